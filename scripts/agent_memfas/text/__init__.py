"""Strings to values: documents, entries, passages, words. Nothing here touches a disk."""
