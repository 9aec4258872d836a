"""The command line: the only code that prints, exits, and reads clock, environment and cwd."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run `memfas ARGUMENTS` (default: the process's own). Returns the exit status."""
    from agent_memfas.cli import fast, out

    given = sys.argv[1:] if arguments is None else arguments
    out.prepare()
    try:
        status = fast.run(given)
        if status is None:
            from agent_memfas.cli import program

            status = program.run(given)
    except BrokenPipeError:
        out.silence()
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if os.environ.get("MEMFAS_TRACEBACK"):
            raise
        out.tell(f"{error.filename or 'the system'}: {os.strerror(error.errno or 0)}")
        return 1
    except Exception as error:
        if os.environ.get("MEMFAS_TRACEBACK"):
            raise
        return out.confess(error)
    return out.finish(status)


def door(command: str) -> int:
    """What a script under scripts/ does: `memfas COMMAND` with the script's own arguments."""
    status = main([command, *sys.argv[1:]])
    if "typer" not in sys.modules:  # answered early: all is written, and tidying up takes 3 ms
        os._exit(status)
    return status
