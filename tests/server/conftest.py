"""Fixtures of the tests of the MCP server."""

from __future__ import annotations

from server.clients import memory

__all__ = ["memory"]
