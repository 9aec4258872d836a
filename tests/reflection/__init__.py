"""Reflection from the outside: the commands, real servers, and what stands in the files afterwards."""
