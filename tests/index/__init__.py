"""The index: never stale, never in the way, and equal to one that is built anew."""
