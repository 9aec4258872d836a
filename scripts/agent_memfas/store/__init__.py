"""The truth on disk: reading, safe edits, archive, history. The only code that writes files."""
