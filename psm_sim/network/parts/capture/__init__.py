"""Capture of the 802.11 frames as a pcap file with radiotap headers."""

from psm_sim.network.parts.capture.capture_header_values import capture_bytes, check_capturable
from psm_sim.network.parts.capture.observer import capture_observers

__all__ = ["capture_bytes", "capture_observers", "check_capturable"]
