"""The MCP server: a few tools over a memory folder, its files as resources, two prompts.

`tools`, `files` and `prompts` know nothing of the protocol; `protocol` binds them to the official
SDK, `http` serves that on loopback.
"""
