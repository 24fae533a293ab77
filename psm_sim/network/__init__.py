"""The SimPy world: links, TCP, browser, server, access point, station."""
