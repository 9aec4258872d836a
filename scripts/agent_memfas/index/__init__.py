"""What is derived from the files to find things in them; deleting it loses nothing."""
