"""`python -m agent_memfas.cli`."""

from __future__ import annotations

import sys

from agent_memfas.cli import main

sys.exit(main())
