"""Capture: what a sniffer beside the station hears, as a pcap file of 802.11 frames with radiotap headers."""

from psm_sim.network.observers.capture.capture_settings import check_capturable
from psm_sim.network.observers.capture.observer import Capture, capture_observers
from psm_sim.network.observers.capture.size_estimate import capture_bytes

__all__ = ["Capture", "capture_bytes", "capture_observers", "check_capturable"]
