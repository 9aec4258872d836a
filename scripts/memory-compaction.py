#!/usr/bin/env python3
"""`memfas compact` from a checkout: make a transcript smaller, and lose nothing of it."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from agent_memfas.cli import door

if __name__ == "__main__":
    sys.exit(door("compact"))
