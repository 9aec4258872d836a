"""The tools, files and prompts bound to the Model Context Protocol by its official SDK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from agent_memfas import __version__
from agent_memfas.errors import MemfasError, told
from agent_memfas.server import INSTRUCTIONS, NAME, TITLE
from agent_memfas.server.desk import Desk

AT_ONCE = 8  # calls that are worked on at the same time
T = TypeVar("T")


def server_of(desk: Desk) -> Server[Any]:
    """A server over a memory. Each call runs in a thread of its own, so that a slow one blocks no
    other; nothing is opened before the first.
    """
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def work(function: Callable[..., T], *given: Any) -> T:
        return await anyio.to_thread.run_sync(
            function, *given, limiter=limit, abandon_on_cancel=True
        )

    async def list_tools(_: Any, __: Any) -> ListToolsResult:
        return ListToolsResult(tools=await work(_tools))

    async def call_tool(_: Any, params: Any) -> CallToolResult:
        return await work(_called, desk, params.name, params.arguments or {})

    async def list_resources(_: Any, __: Any) -> ListResourcesResult:
        return ListResourcesResult(resources=await work(_resources, desk))

    async def list_templates(_: Any, __: Any) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[ResourceTemplate(
            name="file", title="A file of the memory", uri_template="memfas:///{+path}",
            description="Any text file of the memory folder, by its path.",
            mime_type="text/markdown",
        )])  # fmt: skip

    async def read_resource(_: Any, params: Any) -> ReadResourceResult:
        text = await work(_read, desk, str(params.uri))
        return ReadResourceResult(contents=[
            TextResourceContents(uri=str(params.uri), mime_type="text/markdown", text=text)
        ])  # fmt: skip

    async def list_prompts(_: Any, __: Any) -> ListPromptsResult:
        return ListPromptsResult(prompts=await work(_prompts))

    async def get_prompt(_: Any, params: Any) -> GetPromptResult:
        text = await work(_prompt, params.name, dict(params.arguments or {}))
        said = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(messages=[said])

    return Server(
        NAME, version=__version__, title=TITLE, instructions=INSTRUCTIONS,
        on_list_tools=list_tools, on_call_tool=call_tool, on_list_resources=list_resources,
        on_list_resource_templates=list_templates, on_read_resource=read_resource,
        on_list_prompts=list_prompts, on_get_prompt=get_prompt,
    )  # fmt: skip


def serve_stdio(desk: Desk, front: Any) -> None:
    """Answer on the standard input and output that a Front has taken, until the client closes
    them.
    """

    async def run() -> None:
        server = server_of(desk)
        wrapped: Any = anyio.wrap_file(front)
        async with stdio_server(stdin=wrapped, stdout=wrapped) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def _tools() -> list[Tool]:
    from agent_memfas.server.tools import TOOLS

    return [
        Tool(
            name=one.name, title=one.title, description=one.description, input_schema=one.takes,
            output_schema=one.gives,
            annotations=ToolAnnotations(
                title=one.title, read_only_hint=one.reads, destructive_hint=one.destroys,
                idempotent_hint=one.again, open_world_hint=False,
            ),
        )
        for one in TOOLS
    ]  # fmt: skip


def _called(desk: Desk, name: str, given: dict[str, Any]) -> CallToolResult:
    """The result of a call. What is wrong is a result, too, so that the model reads it."""
    from agent_memfas.server.tools import call

    try:
        data, text = call(desk, name, given)
    except MemfasError as error:
        return _failed(f"{error.message}\n{error.remedy}".strip())
    except Exception as error:  # noqa: BLE001 - one call that fails ends no server
        return _failed(f"a fault of memfas itself: {told(error)}")
    return CallToolResult(content=[TextContent(text=text)], structured_content=data)


def _failed(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def _resources(desk: Desk) -> list[Resource]:
    from agent_memfas.server.files import listed

    return _asked(lambda: [
        Resource(
            uri=one.uri, name=one.path, description=one.about, mime_type="text/markdown",
            size=one.size,
        )
        for one in _with_memory(desk, listed)
    ])  # fmt: skip


def _read(desk: Desk, uri: str) -> str:
    from agent_memfas.server.files import text_of

    return _asked(lambda: _with_memory(desk, lambda memory: text_of(memory, uri)))


def _with_memory(desk: Desk, act: Callable[[Any], T]) -> T:
    with desk.memory() as memory:
        return act(memory)


def _prompts() -> list[Prompt]:
    from agent_memfas.server.prompts import PROMPTS

    return [
        Prompt(
            name=one.name, title=one.title, description=one.about,
            arguments=[PromptArgument(name=one.argument, description=one.argument_about,
                                      required=False)] if one.argument else None,
        )
        for one in PROMPTS
    ]  # fmt: skip


def _prompt(name: str, given: dict[str, str]) -> str:
    from agent_memfas.server.prompts import text_of

    return _asked(lambda: text_of(name, given))


def _asked(act: Callable[[], T]) -> T:
    try:
        return act()
    except MemfasError as error:
        raise MCPError(INVALID_PARAMS, error.message) from error
    except MCPError:
        raise
    except Exception as error:
        raise MCPError(INTERNAL_ERROR, f"a fault of memfas itself: {told(error)}") from error
