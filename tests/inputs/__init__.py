"""Bad inputs: what users, agents, tools and disks put in front of memfas, and what it makes of it."""
