"""tests/tasks/test_ranking.py with Milvus in place of the index: the same answers."""

from shared.parity import at_milvus  # noqa: F401
from tasks.test_ranking import *  # noqa: F403
