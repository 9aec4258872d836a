"""Tests of the MCP server, by the SDK's own client."""
