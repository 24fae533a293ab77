"""Readers of packet captures, the pcap and pcapng files of tcpdump and Wireshark."""
