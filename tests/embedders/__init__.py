"""Embedders against real servers on this machine, and the one whose model lies in its package."""
