"""For all tests: in CI the generated examples are the same each time, elsewhere new ones."""

from __future__ import annotations

import os

from hypothesis import settings

# A landing must not hang on the dice; whoever runs the suite by hand goes on looking for more.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
