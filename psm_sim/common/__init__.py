"""Modules that know no network: errors, parameters, specs, plug-ins, files, random streams."""
