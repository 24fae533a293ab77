"""Devices: policies that devices run beside the published ones, over chips and traffic; DTIM and TWT."""
