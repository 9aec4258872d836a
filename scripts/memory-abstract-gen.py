#!/usr/bin/env python3
"""`memfas abstract` from a checkout: write the overview of each folder."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from agent_memfas.cli import door

if __name__ == "__main__":
    sys.exit(door("abstract"))
