"""`memfas install` and `uninstall` on a fake home: what a host reads, and every byte of before."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import tomllib

from hosts.conftest import Home

EVENTS = ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"]
FILES = {
    "claude-code": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
    "cursor": (".cursor/mcp.json",),
}
FOREIGN = {"hooks": [{"type": "command", "command": "say hook done"}]}
JSON_FILES = [
    "", "{}", "{}\n", "{ }", '{"model": "opus"}', '{"hooks": {}}', '{"hooks": {"Stop": []}}\n',
    json.dumps({"a": [1, {"b": 2}], "hooks": {"Stop": [FOREIGN]}, "mcpServers": {"x": {}}}),
    json.dumps({"hooks": {"Stop": [FOREIGN], "Other": []}, "z": "ü"}, indent=4),
    json.dumps({"hooks": {"SessionStart": [FOREIGN, FOREIGN]}}, indent="\t") + "\n\n",
    "\ufeff" + json.dumps({"env": {"A": "1"}}, indent=2).replace("\n", "\r\n") + "\r\n",
    '{\n  "a" : 1 ,\n  "hooks" : { "Stop" : [ ] }\n}',
]  # fmt: skip
TOML_FILES = ["", 'model = "o3"', "[a]\nb = 1\n", "# end\r\n[a]\r\nb = 1\r\n", "[mcp_servers.x]\n"]


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if path.relative_to(folder).parts[0] not in ("my-agent", ".local")
    }


def commands(settings: dict[str, Any], event: str) -> list[str]:
    return [one["command"] for group in settings["hooks"][event] for one in group["hooks"]]


@pytest.mark.parametrize("host", list(FILES))
def test_install_on_an_empty_home_and_out_again(home: Home, host: str) -> None:
    """The files that the host reads, for this memory, whatever folder it works in; afterwards the
    home is as empty as before, folders included. A second install changes nothing."""
    before = tree(home.path)
    done = home.run("install", host)
    assert done.returncode == 0, done.stderr
    after = tree(home.path)
    assert {name for name, data in after.items() if data is not None} == set(FILES[host])
    assert home.run("install", host).returncode == 0
    assert tree(home.path) == after
    assert home.run("uninstall", host).returncode == 0
    assert tree(home.path) == before
    assert home.run("uninstall", host).returncode == 1


def test_the_hooks_of_claude_code_work_as_they_are_written(home: Home) -> None:
    """Each command, run by a shell with the event's JSON, does its work in this memory; the server
    is named with its program."""
    home.run("install", "claude-code", "--agent", "scout")
    settings = json.loads((home.path / ".claude/settings.json").read_text())
    assert sorted(settings["hooks"]) == sorted(EVENTS)
    for event in EVENTS:
        (command,) = commands(settings, event)
        given = json.dumps({"session_id": event, "cwd": "/", "hook_event_name": event,
                            "source": "startup", "prompt": "Which is the staging host?"})  # fmt: skip
        done = subprocess.run(["sh", "-c", command], input=given, capture_output=True, text=True,
                              env={**home.environment, "PYTHONPATH": ""}, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert ("heron" in done.stdout) == (event in ("SessionStart", "UserPromptSubmit"))
    assert settings["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] <= 3
    server = json.loads((home.path / ".claude.json").read_text())["mcpServers"]["memfas"]
    assert os.access(server["command"], os.X_OK)
    assert server["args"][-5:] == ["mcp", "--root", str(home.memory.root), "--agent", "scout"]


def test_codex_gets_hooks_and_a_server(home: Home) -> None:
    """hooks.json with nothing but `hooks`, a table in config.toml; and is told to be trusted."""
    config = home.path / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text('model = "o3"\n\n[features]\nx = true\n')
    done = home.run("install", "codex")
    assert "/hooks" in done.stderr
    found = json.loads((home.path / ".codex/hooks.json").read_text())
    assert list(found) == ["hooks"]
    assert all("--host codex" in commands(found, event)[0] for event in EVENTS)
    settings = tomllib.loads(config.read_text())
    assert settings["model"] == "o3"
    assert "mcp" in settings["mcp_servers"]["memfas"]["args"]


@pytest.mark.parametrize("text", JSON_FILES, ids=range(len(JSON_FILES)))
def test_what_stands_in_json_settings_stays_byte_for_byte(home: Home, text: str) -> None:
    """Whatever its indentation, line ends or marks: what was there is there, in its order, and after
    an uninstall every byte is as it was; where the host has written in between, all but ours."""
    for name in (".claude/settings.json", ".claude.json"):
        path = home.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    before = tree(home.path)
    plain = json.loads(text.removeprefix("\ufeff") or "{}")
    assert home.run("install", "claude-code").returncode == 0
    settings = json.loads((home.path / ".claude/settings.json").read_text("utf-8-sig"))
    for key, value in plain.items():
        if key != "hooks":
            assert settings[key] == value
    for event, groups in plain.get("hooks", {}).items():
        assert settings["hooks"][event][: len(groups)] == groups
    kept = tree(home.path)
    assert home.run("uninstall", "claude-code").returncode == 0
    assert tree(home.path) == before
    for name, data in kept.items():  # again, and this time the host writes in between
        if data is not None:
            (home.path / name).write_bytes(data)
    path = home.path / ".claude/settings.json"
    changed = json.loads(path.read_text("utf-8-sig"))
    changed["added"] = 1
    path.write_text(json.dumps(changed, indent=2))
    assert home.run("uninstall", "claude-code").returncode == 0
    left = json.loads(path.read_text())
    assert left.pop("added") == 1
    assert left.get("hooks", {}) == {
        event: groups for event, groups in plain.get("hooks", {}).items()
        if groups or event not in EVENTS
    }  # fmt: skip
    assert {k: v for k, v in left.items() if k != "hooks"} == {
        k: v for k, v in plain.items() if k != "hooks"}  # fmt: skip


@pytest.mark.parametrize("text", TOML_FILES, ids=range(len(TOML_FILES)))
def test_what_stands_in_toml_settings_stays_byte_for_byte(home: Home, text: str) -> None:
    """The same for Codex; a server of our name that is not ours is left alone, and nothing else is
    written then."""
    path = home.path / ".codex/config.toml"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    assert home.run("install", "codex").returncode == 0
    assert path.read_bytes().startswith(text.encode())
    assert "memfas" in tomllib.loads(path.read_text())["mcp_servers"]
    assert home.run("uninstall", "codex").returncode == 0
    assert path.read_bytes() == text.encode()
    assert not (home.path / ".codex/hooks.json").exists()
    path.write_text('[mcp_servers.memfas]\ncommand = "mine"\n')
    done = home.run("install", "codex")
    assert done.returncode != 0
    assert "memfas already" in done.stderr
    assert [one.name for one in path.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("text", [
    '[mcp_servers]\nmemfas = {command = "x"}\n', '[mcp_servers."memfas"]\ncommand = "x"\n',
    'mcp_servers = {other = {command = "x"}}\n', '[mcp_servers]\nmemfas.command = "x"\n',
    "[broken\n", "a = 1\na = 2\n",
])  # fmt: skip
def test_toml_that_nothing_can_be_added_to_is_left_alone(home: Home, text: str) -> None:
    """A server of our name in any notation, servers as an inline table, no TOML at all: said in a
    sentence, and neither of the host's files is changed."""
    path = home.path / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text(text)
    done = home.run("install", "codex")
    assert done.returncode != 0
    assert "config.toml" in done.stderr
    assert [one.name for one in path.parent.iterdir()] == ["config.toml"]
    assert path.read_text() == text


def test_a_root_of_any_characters_is_toml(home: Home, tmp_path: Path) -> None:
    """An emoji, quotes, a backslash."""
    odd = tmp_path / 'R😀 "q" \\ ü'
    odd.mkdir()
    (odd / "MEMORY.md").write_text("# Memory\n")
    assert home.run("install", "codex", "--root", str(odd)).returncode == 0
    server = tomllib.loads((home.path / ".codex/config.toml").read_text())["mcp_servers"]["memfas"]
    assert server["args"][-1] == os.path.realpath(odd)


def test_what_was_put_between_the_marks_of_ours_stays(home: Home) -> None:
    """Editors of TOML put new tables before a comment at the end; what was added to our own server
    goes with it."""
    path = home.path / ".codex/config.toml"
    home.run("install", "codex")
    text = path.read_text()
    end = "# <<< memfas"
    more = '[mcp_servers.memfas.env]\nA = "1"\n'
    theirs = (
        '# of mine\n[projects."/home/u/app"]\ntrusted = true\n[mcp_servers.github]\ncommand = "g"\n'
    )
    assert text.count(end) == 1
    path.write_text(text.replace(end, f"{more}{theirs.partition(chr(10))[2]}{end}"))
    assert home.run("uninstall", "codex").returncode == 0
    left = path.read_text()
    assert left == theirs.partition("\n")[2]


def test_an_uninstall_does_what_can_be_done(home: Home) -> None:
    """One file that cannot be read keeps nothing in the others; a handler that somebody added to our
    group stays, without ours; a server with odd arguments is nobody's fault."""
    home.run("install", "claude-code")
    settings = home.path / ".claude/settings.json"
    told = json.loads(settings.read_text())
    told["hooks"]["Stop"][0]["hooks"].append(FOREIGN["hooks"][0])
    settings.write_text(json.dumps(told))
    (home.path / ".claude.json").write_text("{bad")
    done = home.run("uninstall", "claude-code")
    assert done.returncode not in (0, 70)
    assert ".claude.json" in done.stderr
    left = json.loads(settings.read_text())
    assert left == {"hooks": {"Stop": [FOREIGN]}}
    assert (home.path / ".claude.json").read_text() == "{bad"
    odd = '{"mcpServers": {"memfas": {"command": "x", "args": 5}}}'
    (home.path / ".claude.json").write_text(odd)
    assert home.run("install", "claude-code").returncode not in (0, 70)
    home.run("uninstall", "claude-code")
    assert (home.path / ".claude.json").read_text() == odd


@pytest.mark.parametrize("text", ["{", "[]", "// a comment\n{}", '{"hooks": []}',
                                  '{"hooks": {"Stop": {}}}', "\xff",
                                  '{"hooks": {}, "hooks": {}}'])  # fmt: skip
def test_settings_that_cannot_be_read_are_left_alone(home: Home, text: str) -> None:
    """One sentence with the file; neither of the host's files is changed."""
    path = home.path / ".claude/settings.json"
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    before = tree(home.path)
    done = home.run("install", "claude-code")
    assert done.returncode != 0
    assert "settings.json" in done.stderr
    assert "Traceback" not in done.stderr
    assert tree(home.path) == before


def test_links_and_modes_of_settings_stay(home: Home) -> None:
    """A settings file kept in a folder of dotfiles is changed there, and keeps its mode."""
    real = home.path / "dotfiles/settings.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    real.chmod(0o640)
    link = home.path / ".claude/settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    home.run("install", "claude-code")
    assert link.is_symlink()
    assert "memfas" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    home.run("uninstall", "claude-code")
    assert real.read_text() == "{}\n"


def test_of_one_project_only(home: Home, tmp_path: Path) -> None:
    """Into the project's own files; the memory is the one that the host works in."""
    project = tmp_path / "pro ject"
    project.mkdir()
    assert home.run("install", "claude-code", "--project", str(project)).returncode == 0
    settings = json.loads((project / ".claude/settings.json").read_text())
    assert "--root" not in commands(settings, "Stop")[0]
    assert "memfas" in json.loads((project / ".mcp.json").read_text())["mcpServers"]
    assert tree(home.path) == {}
    assert home.run("uninstall", "claude-code", "--project", str(project)).returncode == 0
    assert list(project.iterdir()) == []


def test_dry_run_and_other_hosts(home: Home) -> None:
    """Nothing is written; for any other client the server's JSON is shown; a wrong name is told."""
    before = tree(home.path)
    assert "would get hooks" in home.run("install", "claude-code", "--dry-run").stdout
    shown = json.loads(home.run("install", "mcp").stdout)
    assert shown["mcpServers"]["memfas"]["args"][-2:] == ["--root", str(home.memory.root)]
    wrong = home.run("install", "emacs")
    assert (wrong.returncode, "claude-code" in wrong.stderr) == (2, True)
    assert tree(home.path) == before


def test_variables_of_the_hosts_name_their_folders(home: Home, tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR and CODEX_HOME."""
    elsewhere = {**home.environment, "CLAUDE_CONFIG_DIR": str(tmp_path / "c"),
                 "CODEX_HOME": str(tmp_path / "x")}  # fmt: skip
    for host in ("claude-code", "codex"):
        assert home.run("install", host, env=elsewhere).returncode == 0
    assert sorted(one.name for one in (tmp_path / "c").iterdir()) == [
        ".claude.json", "settings.json"]  # fmt: skip
    assert sorted(one.name for one in (tmp_path / "x").iterdir()) == ["config.toml", "hooks.json"]


def test_a_path_with_odd_characters_is_quoted(home: Home, tmp_path: Path) -> None:
    """A memory folder with spaces and quotes: the command means the same to a shell."""
    odd = tmp_path / "it's a $HOME `memory`"
    odd.mkdir()
    (odd / "MEMORY.md").write_text("- [P0] The staging host is heron\n")
    assert home.run("install", "claude-code", "--root", str(odd)).returncode == 0
    settings = json.loads((home.path / ".claude/settings.json").read_text())
    assert str(odd) in shlex.split(commands(settings, "Stop")[0])
    done = subprocess.run(
        ["sh", "-c", commands(settings, "SessionStart")[0]], capture_output=True, text=True,
        input='{"session_id": "s", "source": "startup"}', env=home.environment, check=False,
    )  # fmt: skip
    assert "heron" in done.stdout
