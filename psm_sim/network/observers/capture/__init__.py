"""Capture: what a sniffer beside the station hears, as a pcap file of 802.11 frames with radiotap headers."""

from psm_sim.network.observers.capture.capture_settings import check_capturable
from psm_sim.network.observers.capture.observer import Capture, captures
from psm_sim.network.observers.capture.size import capture_bytes

__all__ = ["Capture", "capture_bytes", "captures", "check_capturable"]
