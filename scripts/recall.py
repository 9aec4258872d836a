#!/usr/bin/env python3
"""`memfas recall` from a checkout: ask the memory a question."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from agent_memfas.cli import door

if __name__ == "__main__":
    sys.exit(door("recall"))
