#!/usr/bin/env python3
"""`memfas recall` from a checkout: ask the memory a question."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agent_memfas.cli import door

if __name__ == "__main__":
    sys.exit(door("recall"))
