"""Telemetry: the file, the objects of the reference, the commands, the page."""
