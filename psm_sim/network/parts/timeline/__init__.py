"""Timeline of a run as a Chrome trace for Perfetto or chrome://tracing."""

from psm_sim.network.parts.timeline.observer import Timeline, timeline_observers
from psm_sim.network.parts.timeline.size_estimate import timeline_bytes

__all__ = ["Timeline", "timeline_bytes", "timeline_observers"]
