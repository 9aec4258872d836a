"""Language models against a real server on this machine, and programs as models."""
