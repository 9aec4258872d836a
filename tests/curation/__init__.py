"""Curation from the outside: what a turn is given, whatever its budget, level and folder."""
