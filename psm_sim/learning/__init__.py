"""Online learning with expert advice: arrays in, arrays out."""
