"""The names of the reference's `agent_memfas.v3`, loaded when they are first asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memfas.v3.telemetry import SessionMetrics, TelemetryLogger, TurnMetrics

__all__ = ["SessionMetrics", "TelemetryLogger", "TurnMetrics"]


def __getattr__(name: str) -> object:
    """A name of this package from the module that has it."""
    if name in __all__:
        from agent_memfas.v3 import telemetry

        return getattr(telemetry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
