#!/usr/bin/env python3
"""`memfas index` from a checkout: read what has changed into the index, once or until stopped."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from agent_memfas.cli import door

if __name__ == "__main__":
    sys.exit(door("index"))
