"""Help that groups the commands by purpose."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

ORDER = ("Remember", "Recall", "Tend", "Context", "Connect", "Index")


class Grouped(TyperGroup):
    """A command group whose help lists the commands under the panel each of them names."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer's
        """Write one section of commands for each purpose, in the order of ORDER."""
        width = max(formatter.width - 6 - max(map(len, self.commands), default=0), 10)
        for panel in ORDER:
            rows = [
                (name, command.get_short_help_str(width))
                for name, command in self.commands.items()
                if getattr(command, "rich_help_panel", None) == panel and not command.hidden
            ]
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows)
