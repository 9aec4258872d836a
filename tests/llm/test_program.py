"""A program as the model: the prompt on its input, the answer on its output, and nothing left."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from agent_memfas.errors import ConfigError, MemfasError, TryAgain
from agent_memfas.llm import LlmChoice, open_model
from llm.asking import PLAIN, Asker

ECHO = "import sys; print(sys.stdin.read())"


def program(code: str, **settings: object) -> Asker:
    """A Python program as the model."""
    command = f"{sys.executable} -c {shlex.quote(code)}"
    return Asker({"command": command, "timeout": 20.0, **settings})


def test_the_prompt_is_its_input_and_the_answer_its_output(tmp_path: Path) -> None:
    """Any program will do; it runs where the command was started, and its name is the model's."""
    one = program("import os, sys; print(os.getcwd(), sys.stdin.read())")
    assert one.ask() == f"{os.getcwd()} You answer briefly.\n\nHow are you?"
    (call,) = one.calls
    assert (call.model, call.outcome, call.tries) == (Path(sys.executable).name, "ok", 1)
    assert call.prompt_tokens > 5
    assert call.completion_tokens > 5


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    """What a shell would obey is passed on as it is."""
    target = tmp_path / "made"
    one = Asker({"command": f"echo '$HOME' ; touch {target} && '*'", "timeout": 20.0})
    assert one.ask() == f"$HOME ; touch {target} && *"
    assert not target.exists()


def test_it_is_told_once_what_was_wrong() -> None:
    """The second time with the reason, as a server is."""
    code = ('import sys; t = sys.stdin.read(); '
            'print("{\\"answer\\": \\"well\\"}" if "is no JSON" in t else "hm")')  # fmt: skip
    one = program(code)
    assert one.json() == "well"
    assert one.outcomes == ["invalid", "ok"]


@pytest.mark.parametrize(("code", "kind", "words", "outcome"), [
    ("import sys; print('a\\nlast words', file=sys.stderr); sys.exit(3)", MemfasError,
     "status 3: last words", "status 3"),
    ("import os; os.kill(os.getpid(), 9)", MemfasError, "signal 9", "status -9"),
    ("import sys; print('key ghp_' + 'aB3dE5fG7hI9' * 3, file=sys.stderr); sys.exit(1)",
     MemfasError, "key [redacted: GitHub token]", "status 1"),
    ("print('x' * 5_000_000)", MemfasError, "more than 4 MB", "bad answer"),
    ("", MemfasError, "the answer was empty", "invalid"),
], ids=["status", "signal", "secret", "too much", "nothing"])  # fmt: skip
def test_a_program_that_fails_is_a_sentence(
    code: str, kind: type[MemfasError], words: str, outcome: str
) -> None:
    """With its last words, and without the secrets in them."""
    one = program(code)
    with pytest.raises(kind) as caught:
        one.ask()
    assert words in caught.value.message
    assert caught.value.remedy
    assert one.outcomes[-1] == outcome


def test_bytes_that_are_no_text_do_no_harm() -> None:
    """They become signs of replacement."""
    assert program("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb')").ask() == "a\ufffd\ufffdb"


def test_one_that_does_not_read_its_input_answers_all_the_same() -> None:
    """A long prompt that nobody reads blocks nobody."""
    one = program("print('good')", window=10_000_000)
    long = PLAIN.__class__("", "word " * 400_000)
    assert one.ask(long) == "good"


def test_a_long_prompt_and_a_long_answer_pass_each_other() -> None:
    """Though the program writes before it has read everything."""
    code = "import sys\nfor line in sys.stdin: print(line, end='')"
    text = "\n".join(f"line {n}" for n in range(100_000))
    one = program(code, window=10_000_000)
    assert one.ask(PLAIN.__class__("", text)) == text


@pytest.mark.parametrize("code", [
    "import time; time.sleep(60)",
    "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
    "import os, sys, time; os.close(1); os.close(2); time.sleep(60)",
    "import time\nwhile True: print('x', flush=True); time.sleep(0.05)",
], ids=["sleeps", "ignores signals", "closes its output", "drips"])  # fmt: skip
def test_the_deadline_ends_it(code: str) -> None:
    """Whatever it does meanwhile."""
    one = program(code, timeout=0.6)
    with pytest.raises(TryAgain, match=r"not done after 0\.6 seconds"):
        one.ask()
    assert one.outcomes == ["timeout"]


@pytest.mark.parametrize("tail", ["print('good')", "time.sleep(60)"], ids=["ended", "late"])
def test_nothing_that_it_started_goes_on(tmp_path: Path, tail: str) -> None:
    """A child in the background ends with it, though it holds the output open."""
    pid = tmp_path / "pid"
    code = ("import subprocess, time; c = subprocess.Popen(['sleep', '61']); "
            f"open({str(pid)!r}, 'w').write(str(c.pid)); {tail}")  # fmt: skip
    one = program(code, timeout=20.0 if tail.startswith("print") else 1.5)
    if tail.startswith("print"):
        assert one.ask() == "good"
    else:
        with pytest.raises(TryAgain):
            one.ask()
    child = Path("/proc", pid.read_text())
    for _ in range(100):
        if not child.exists() or "\nState:\tZ" in (child / "status").read_text():
            return
        time.sleep(0.05)
    pytest.fail("the child is still there")


@pytest.mark.parametrize(("command", "words"), [
    ("/nonexistent/model --fast", "No such file"), ("'half", "cannot be read"), ("''", "program"),
    ("/etc/passwd", "Permission denied"),
])  # fmt: skip
def test_a_command_that_is_none_is_a_mistake_of_the_settings(command: str, words: str) -> None:
    """It is named, with the key that holds it."""
    with pytest.raises(ConfigError) as caught:
        Asker({"command": command, "timeout": 20.0}).ask()
    assert words in caught.value.message
    assert "llm.command" in f"{caught.value.message} {caught.value.remedy}" or words == "program"


def test_what_it_would_be_given_is_shown() -> None:
    """The command without the keys in it, and its input; it is not run."""
    secret = "sk-ant-" + "aB3dE5fG7hI9jK1lM2nO"
    model = open_model(LlmChoice(command=f"/nonexistent --key {secret}"), lambda call: None)
    assert model is not None
    assert model.payload(PLAIN) == {
        "command": "/nonexistent --key [redacted: Anthropic key]",
        "input": "You answer briefly.\n\nHow are you?\n",
    }
