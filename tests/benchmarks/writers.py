"""Eight processes write to one memory by every route while the janitor and the watcher run.

    python -m tests.benchmarks.writers [--each 1000]

Each writes so many entries: by the command line, the library and the MCP server, into MEMORY.md and
into inboxes of shared/, and past memfas with `>>`. Expired entries among them keep the janitor
busy. It says how long that took, and how often each entry is there; one that is not there exactly
once makes the status 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"
CLI = """
import sys
from agent_memfas.cli import main
root, name, each, *more = sys.argv[1:]
sys.stdout = open("/dev/null", "w")
for n in range(int(each)):
    assert main(["add", "--root", root, "--agent", name, *more, f"entry {name} {n}."]) == 0
"""
API = """
import sys
from agent_memfas import Memory
root, name, each, *more = sys.argv[1:]
with Memory(root, agent=name) as memory:
    for n in range(int(each)):
        memory.add(f"entry {name} {n}.", shared=bool(more))
"""
MCP = """
import sys
import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
root, name, each, path = sys.argv[1:]
async def main():
    command = ["-m", "agent_memfas.cli", "mcp", "--root", root, "--agent", name]
    server = StdioServerParameters(command=sys.executable, args=command, env=None)
    server.env = {"PYTHONPATH": path}
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for n in range(int(each)):
            told = await session.call_tool("memory_add", {"text": f"entry {name} {n}."})
            assert not told.is_error, told
anyio.run(main)
"""
SHELL = """
cd "$1"
n=0
while [ $n -lt $3 ]; do
    printf '%s\\n' "- [P1][$(date +%F)] entry $2 $n." >> MEMORY.md
    if [ $((n % 20)) = 0 ]; then
        printf '%s\\n' "- [P2][2020-01-01] old $2 $n." >> MEMORY.md
    fi
    n=$((n + 1))
done
"""


def play(root: Path, each: int) -> tuple[float, Counter[str], Counter[str]]:
    """(seconds, how often each entry is there at the end, and each expired one)."""
    (root / "memfas.yaml").write_text("writing: {quiet: 0, patience: 5}\n")
    (root / "MEMORY.md").write_text("# Memory\n\n")
    python = [sys.executable, "-c"]
    calls = [
        [*python, CLI, str(root), "cli1", str(each)],
        [*python, CLI, str(root), "cli2", str(each), "--shared"],
        [*python, API, str(root), "api1", str(each)],
        [*python, API, str(root), "api2", str(each), "shared"],
        [*python, MCP, str(root), "mcp1", str(each), str(SCRIPTS)],
        [*python, MCP, str(root), "mcp2", str(each), str(SCRIPTS)],
        ["sh", "-c", SHELL, "sh", str(root), "sh1", str(each)],
        ["sh", "-c", SHELL, "sh", str(root), "sh2", str(each)],
    ]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MEMFAS")}
    environment = {**kept, "PYTHONPATH": str(SCRIPTS)}
    memfas = [sys.executable, "-m", "agent_memfas.cli"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    watcher = subprocess.Popen([*memfas, "watch", "--root", str(root)], **quiet)
    began = time.monotonic()
    writers = [subprocess.Popen(call, env=environment) for call in calls]
    while any(one.poll() is None for one in writers):
        subprocess.run([*memfas, "janitor", "--root", str(root)], **quiet, check=False)
    seconds = time.monotonic() - began
    watcher.terminate()
    watcher.wait(20)
    failed = [call[2:6] for call, one in zip(calls, writers, strict=True) if one.returncode]
    assert not failed, failed
    subprocess.run([*memfas, "janitor", "--root", str(root)], **quiet, check=True)
    entries, old = Counter[str](), Counter[str]()
    for path in root.rglob("*.md"):
        for line in path.read_text(encoding="utf-8").splitlines():
            for mark, found in (("] entry ", entries), ("] old ", old)):
                if mark in line:
                    found[line.partition(mark)[2].partition(".")[0]] += 1
    return seconds, entries, old


def main() -> None:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=1000)
    each = parser.parse_args().each
    with tempfile.TemporaryDirectory() as home:
        seconds, entries, old = play(Path(home), each)
    times = Counter(entries.values())
    print(f"{sum(entries.values())} lines of {8 * each} entries in {seconds:.0f} s; "
          f"entries by how often they are there: {dict(times)}; expired ones: "
          f"{dict(Counter(old.values()))}")  # fmt: skip
    sys.exit(len(entries) != 8 * each or set(times) != {1} or set(old.values()) != {1})


if __name__ == "__main__":
    main()
