"""Timeline of a run as a Chrome trace for Perfetto or chrome://tracing."""

from psm_sim.network.parts.timeline.observer import timeline_bytes, timeline_observers

__all__ = ["timeline_bytes", "timeline_observers"]
