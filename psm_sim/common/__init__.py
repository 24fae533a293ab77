"""Modules that do not depend on the network model: errors, parameters, plug-ins, files, random streams."""
