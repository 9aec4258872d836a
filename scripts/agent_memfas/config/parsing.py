"""The text of memfas.yaml, or of a memfas.json, as keys and values with their lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_memfas.errors import ConfigError
from agent_memfas.text.settings import lines_of

if TYPE_CHECKING:
    from yaml.nodes import Node


def tree_of(file: Path, text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Keys and values of a settings file, and the line (1-based) of each key. ConfigError."""
    return _parse_json(file, text) if file.suffix == ".json" else _parse_yaml(file, text)


def _parse_json(file: Path, text: str) -> tuple[dict[str, Any], dict[str, int]]:
    try:
        tree = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise ConfigError(f"{file}:{error.lineno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: nested too deeply") from error
    if not isinstance(tree, dict):
        raise ConfigError(f"{file}:1: the file must be an object of keys and values")
    return tree, lines_of(text, str(file))


def _parse_yaml(file: Path, text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The YAML tree and the line (1-based) of each dotted key. No aliases, no tags of Python."""
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        if _shared(node, set()):
            raise ConfigError(f"{file}: anchors and aliases (& and *) are not allowed")
        tree = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        raise ConfigError(f"{where}: {error.problem or error.context}", "mend the YAML") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{file}: {str(error).splitlines()[0]}", "mend the YAML") from error
    if tree is None:
        return {}, {}
    if not isinstance(tree, dict):
        line = node.start_mark.line + 1
        raise ConfigError(f"{file}:{line}: the file must be a mapping of keys to values")
    return tree, dict(_key_lines(node, ""))


def _shared(node: Node, seen: set[int]) -> bool:
    """Whether any node is used twice, that is, by an alias."""
    if id(node) in seen:
        return True
    seen.add(id(node))
    if not isinstance(node.value, list):
        return False
    children = (part for item in node.value for part in (item if type(item) is tuple else (item,)))
    return any(_shared(child, seen) for child in children)


def _key_lines(node: Node, prefix: str) -> list[tuple[str, int]]:
    from yaml.nodes import MappingNode

    out: list[tuple[str, int]] = []
    for key, value in node.value if isinstance(node, MappingNode) else ():
        name = f"{prefix}{key.value}"
        out.append((name, key.start_mark.line + 1))
        if not prefix:
            out += _key_lines(value, f"{name}.")
    return out
