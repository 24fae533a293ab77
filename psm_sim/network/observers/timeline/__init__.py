"""Timeline of a run as a Chrome trace, which Perfetto and chrome://tracing open."""

from psm_sim.network.observers.timeline.observer import Timeline, timelines
from psm_sim.network.observers.timeline.size import timeline_bytes

__all__ = ["Timeline", "timeline_bytes", "timelines"]
