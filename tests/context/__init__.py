"""Tests of context management."""
