"""Models of real devices that extend the model of the papers. All of them are disabled by default."""
