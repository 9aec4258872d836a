#!/usr/bin/env python3
"""`memfas` from a checkout: every command."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from agent_memfas.cli import main

if __name__ == "__main__":
    sys.exit(main())
