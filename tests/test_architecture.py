"""The rules of the house, read from the source: who imports whom, who prints, who writes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from commandline import REPO

PACKAGE = REPO / "scripts" / "agent_memfas"

# From the ground up: a layer imports from itself (see ALONE) and from those before it.
LAYERS = (
    {"errors"},
    {"text"},
    {"remote"},
    {"store", "embedders", "llm"},
    {"index"},
    {"tasks"},
    {"config"},
    {"memory", "search", "context", "v3"},
    {"server", "hooks"},
    {"cli"},
)
# Modules of these layers stand alone: each does one thing, and none calls its neighbour.
ALONE = {"tasks"}
# What may put off loading these: a question to a fresh index does without them, and starts faster.
PUT_OFF = {
    "config": {"config.family"},
    "index.keeper": {"index.writer", "index.corpus"},
    "index.priors": {"text.asked_times"},
    "store.sweep": {"store.odd"},
    "tasks.recall": {"index.overviews"},
    "text.characters": {"text.beyond_ascii"},
    "text.packing": {"text.excerpts"},
}
# The one module below that may look at the environment: keys and addresses of models are there.
ENVIRONMENT = {"remote.surroundings"}
EDGE = {"cli", "server", "hooks"}
PUBLIC = {"memory", "search", "context", "v3"}
NETWORK = {"aiohttp", "ftplib", "http", "httpx", "openai", "requests", "smtplib", "socket", "ssl"}
HEAVY = {"numpy", "openai", "pydantic", "rank_bm25", "rich", "typer", "watchdog"}

CLOCK = {
    "date.today",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "time.ctime",
    "time.gmtime",
    "time.localtime",
    "time.strftime",
    "time.time",
    "time.time_ns",
}
SURROUNDINGS = {"os.environ", "os.getcwd", "os.getenv", "Path.cwd", "Path.home", "sys.argv"}
WRITING = {
    "os.chmod",
    "os.ftruncate",
    "os.link",
    "os.makedirs",
    "os.mkdir",
    "os.pwrite",
    "os.remove",
    "os.removedirs",
    "os.rename",
    "os.renames",
    "os.replace",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
    "os.unlink",
    "os.write",
}
# Methods of a path (or an open file) that change the disk, by name alone.
WRITING_METHODS = {
    "chmod",
    "hardlink_to",
    "mkdir",
    "rmdir",
    "symlink_to",
    "touch",
    "unlink",
    "write_bytes",
    "write_text",
}
WRITING_MODULES = {"shutil", "tempfile"}


@dataclass(frozen=True)
class Module:
    path: Path
    name: str  # dotted, below the package: "store.files"; "" is the package itself
    tree: ast.Module

    @property
    def layer(self) -> str:
        return self.name.split(".")[0]

    def place(self, node: ast.AST) -> str:
        return f"{self.path.relative_to(REPO)}:{getattr(node, 'lineno', 0)}"


@lru_cache(maxsize=1)
def modules() -> tuple[Module, ...]:
    """All modules of the package, parsed."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        found.append(Module(path, name, ast.parse(path.read_text(encoding="utf-8"))))
    return tuple(found)


def rank(layer: str) -> int:
    """How far up a layer stands; the package's own __init__ stands on top of all but the edge."""
    for height, names in enumerate(LAYERS):
        if layer in names:
            return height
    assert layer in ("", "__main__"), f"{layer} has no place in the list of layers"
    return len(LAYERS)


def imports(module: Module) -> Iterator[tuple[ast.stmt, str]]:
    """Every import of a module, at whatever depth: (statement, absolute dotted name)."""
    is_package = module.path.name == "__init__.py"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = ["agent_memfas", *filter(None, module.name.split("."))]
                keep = len(above) - node.level + is_package
                base = ".".join([*above[:keep], *filter(None, [node.module])])
            for alias in node.names:
                yield node, f"{base}.{alias.name}"


def own_imports(module: Module) -> Iterator[tuple[ast.stmt, str]]:
    """The imports of this package's modules: (statement, dotted name below the package)."""
    for node, name in imports(module):
        if name.startswith("agent_memfas."):
            yield node, name.removeprefix("agent_memfas.")


def dotted(node: ast.AST) -> str:
    """`os.path.join` of an attribute or a name; "" where it is anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def mentions(module: Module, names: set[str]) -> list[str]:
    """Where a module uses one of the dotted names, or a longer name that ends in it."""
    return [
        f"{module.place(node)}: {dotted(node)}"
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.Attribute, ast.Name))
        and any(dotted(node) == name or dotted(node).endswith(f".{name}") for name in names)
    ]


def calls(module: Module) -> Iterator[ast.Call]:
    """Every call in a module."""
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.Call))


def opens_for_writing(call: ast.Call) -> bool:
    """`open(..., "w")`, `path.open("ab")`, `os.open(..., os.O_WRONLY)`, `os.fdopen(n, "w")`."""
    name = dotted(call.func) or getattr(call.func, "attr", "")
    if name == "os.open" and call.args and dotted(call.args[0]) == "os.devnull":
        return False  # what goes there is nowhere
    if name == "os.open":
        flags = {n.attr for n in ast.walk(call) if isinstance(n, ast.Attribute)}
        return bool(flags & {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"})
    if name not in ("open", "io.open", "os.fdopen") and not name.endswith("open"):
        return False
    texts = [a.value for a in [*call.args, *(k.value for k in call.keywords)]
             if isinstance(a, ast.Constant) and isinstance(a.value, str)]  # fmt: skip
    return any(re.fullmatch(r"[rwaxbt+]{1,4}", t) and set(t) & set("wax+") for t in texts)


def writes(module: Module) -> list[str]:
    """Where a module changes the disk, as far as the source can tell."""
    found = mentions(module, WRITING)
    for call in calls(module):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        path_rename = name in ("rename", "replace") and len(call.args) == 1 and not call.keywords
        if opens_for_writing(call) or name in WRITING_METHODS or path_rename:
            found.append(f"{module.place(call)}: {ast.unparse(call.func)}(...)")
    found += [
        f"{module.place(node)}: import of {name}"
        for node, name in imports(module)
        if name.split(".")[0] in WRITING_MODULES
    ]
    return found


def test_a_layer_imports_only_from_below() -> None:
    """Text knows nothing of disks, the disk nothing of commands: each part can be read alone."""
    wrong = []
    for module in modules():
        if module.layer in ("", "__main__"):
            continue
        for node, name in own_imports(module):
            other = name.split(".")[0]
            if other.startswith("__"):  # the package's own __version__
                continue
            beside = rank(other) == rank(module.layer) and other != module.layer
            if rank(other) > rank(module.layer) or (beside and module.layer not in PUBLIC):
                wrong.append(f"{module.place(node)}: {module.name} imports {name}")
    assert wrong == []


def test_tasks_never_import_each_other() -> None:
    """One verb, one file: what two of them need stands below them."""
    wrong = [
        f"{module.place(node)}: {module.name} imports {name}"
        for module in modules()
        if module.layer in ALONE and module.name != module.layer
        for node, name in own_imports(module)
        if name.split(".")[0] == module.layer
    ]
    assert wrong == []


def test_no_module_hides_an_import_of_the_package_in_a_function() -> None:
    """Only the edge, the package's front and what is listed above put off their own modules, to
    start fast."""
    wrong = []
    for module in modules():
        if module.layer in EDGE | PUBLIC | {"", "__main__"}:
            continue
        top = {id(node) for node in module.tree.body}
        for statement in module.tree.body:
            if isinstance(statement, ast.If):  # `if TYPE_CHECKING:`
                top |= {id(node) for node in statement.body}
        wrong += [
            f"{module.place(node)}: {name}"
            for node, name in own_imports(module)
            if id(node) not in top and name.rpartition(".")[0] not in PUT_OFF.get(module.name, ())
        ]
    assert wrong == []


def test_no_file_is_long() -> None:
    """No file of code or of tests is over 400 lines, so that each can be read at one sitting."""
    files = [
        *PACKAGE.rglob("*.py"),
        *(REPO / "scripts").glob("*.py"),
        *(REPO / "tests").rglob("*.py"),
    ]
    long = {
        path.relative_to(REPO).as_posix(): count
        for path in files
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_only_the_command_line_prints_and_exits() -> None:
    """A program that imports memfas is never printed into and never ended by it."""
    stops = {"sys.exit", "os._exit", "SystemExit", "exit", "quit", "print"}
    streams = {"sys.stdout", "sys.stderr", "sys.stdin"}
    wrong = [
        place
        for module in modules()
        if module.layer not in EDGE
        for place in mentions(module, stops | streams)
        if not re.search(r": (?!sys\.|os\.)\w+\.", place)  # a method that happens to be called exit
    ]
    assert wrong == []


def test_only_the_edge_looks_at_the_clock_and_the_surroundings() -> None:
    """Below the command line, today, the root and settings come in as arguments."""
    wrong = [
        place
        for module in modules()
        if module.layer not in EDGE | PUBLIC
        for place in mentions(module, CLOCK | SURROUNDINGS)
        if not (module.name in ENVIRONMENT and place.endswith(": os.environ"))
    ]
    assert wrong == []


def test_only_the_store_writes() -> None:
    """Whatever changes a file goes through one place that does it safely."""
    wrong = [place for module in modules() if module.layer != "store" for place in writes(module)]
    assert wrong == []


def test_the_check_for_writing_would_notice() -> None:
    """The check above sees each way of writing a file, and leaves reading and strings alone."""
    guilty = (
        "open(p, 'w')",
        "open(p, mode='ab')",
        "path.open('r+')",
        "os.open(p, os.O_WRONLY | os.O_APPEND)",
        "os.fdopen(n, 'wb')",
        "p.write_text('x')",
        "p.rename(q)",
        "p.replace(q)",
        "os.replace(p, q)",
        "import shutil",
        "from tempfile import mkdtemp",
    )
    innocent = ("open(p)", "open(p, 'rb')", "s.replace('a', 'b')", "os.open(p, os.O_RDONLY)",
                "replace(entry, text='w')", "d.replace(tzinfo=None)")  # fmt: skip
    for source in guilty:
        assert writes(Module(REPO / "x.py", "tasks.x", ast.parse(source))), source
    for source in innocent:
        assert not writes(Module(REPO / "x.py", "tasks.x", ast.parse(source))), source


def test_only_the_index_opens_sqlite() -> None:
    """Whoever is not the index cannot come to rely on derived data."""
    wrong = [
        module.place(node)
        for module in modules()
        if module.layer != "index"
        for node, name in imports(module)
        if name.split(".")[0] == "sqlite3"
    ]
    assert wrong == []


def test_only_models_are_reached_over_a_network() -> None:
    """Nothing but the embedders and the language models can send a byte of memory away."""
    wrong = [
        f"{module.place(node)}: {name}"
        for module in modules()
        if module.layer not in ("remote", "embedders", "llm", "server")
        for node, name in imports(module)
        if name.split(".")[0] in NETWORK or name.startswith("urllib.request")
    ]
    assert wrong == []


def test_results_cannot_be_changed_behind_ones_back() -> None:
    """What text and tasks give back is frozen."""
    wrong = [
        f"{module.place(node)}: {node.name}"
        for module in modules()
        if module.layer in ("text", "tasks")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        for mark in node.decorator_list
        if re.match(r"(dataclasses\.)?dataclass\b", ast.unparse(mark))
        and "frozen=True" not in ast.unparse(mark)
    ]
    assert wrong == []


def test_nothing_is_left_for_later() -> None:
    """The source holds no note of work that was put off."""
    marks = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
    files = [*(REPO / "scripts").rglob("*.py"), *(REPO / "tests").rglob("*.py")]
    assert [p.name for p in files if marks.search(p.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "layers", [("text",), ("text", "store"), ("",)], ids=["text", "store", "top"]
)
def test_heavy_libraries_stay_out_of_a_cold_start(layers: tuple[str, ...]) -> None:
    """Importing the lower layers costs next to nothing: no library that takes its time to load."""
    names = [f"agent_memfas.{m.name}".rstrip(".") for m in modules() if m.layer in layers]
    assert names
    program = (
        f"import sys; [__import__(name) for name in {names!r}]; "
        f"print(*sorted(set(sys.modules) & {HEAVY!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(REPO / "scripts")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []
