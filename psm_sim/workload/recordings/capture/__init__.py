"""Captures: packets as tcpdump or Wireshark keeps them, in pcap and pcapng files."""
