"""Speaking with a server over HTTP: one request, waiting for it, and what goes wrong, in words."""
