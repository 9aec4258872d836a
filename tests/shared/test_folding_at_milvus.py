"""tests/tasks/test_folding.py with Milvus in place of the index: the same answers."""

from shared.parity import at_milvus  # noqa: F401
from tasks.test_folding import *  # noqa: F403
