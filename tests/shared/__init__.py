"""The shared index: Milvus, as a real server on loopback and as a file."""
