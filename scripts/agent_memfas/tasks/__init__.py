"""One file, one verb. Tasks never import each other and never print."""
