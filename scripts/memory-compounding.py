#!/usr/bin/env python3
"""`memfas compound` from a checkout: turn daily logs into insights."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from agent_memfas.cli import door

if __name__ == "__main__":
    sys.exit(door("compound"))
