"""`llm:` in memfas.yaml: which model it names, where that is, and what is a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memfas.config import load
from agent_memfas.errors import ConfigError
from agent_memfas.llm import LanguageModel, LlmChoice, open_model
from commandline import REPO, code_blocks
from inputs.memory import Memory
from llm.asking import PLAIN, Asker, of
from llm.server import Server

PASTED = "sk-" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8t"


def opened(**settings: object) -> LanguageModel:
    model = open_model(LlmChoice(**settings), lambda call: None)  # type: ignore[arg-type]
    assert model is not None
    return model


def where(**settings: object) -> tuple[str, str]:
    """The address and the name that would be sent."""
    shown = opened(**settings).payload(PLAIN)
    return shown["address"].removesuffix("/chat/completions"), shown["body"]["model"]


@pytest.mark.parametrize("text", ["", "llm:\n", "llm: {model: none}\n", "llm: {model: null}\n",
                                  "llm: {model: None}\n"])  # fmt: skip
def test_there_is_no_model_unless_one_is_named(tmp_path: Path, text: str) -> None:
    """The default is none, and nothing is asked of anybody."""
    (tmp_path / "memfas.yaml").write_text(text)
    assert open_model(load(tmp_path / "memfas.yaml").llm, lambda call: None) is None


@pytest.mark.parametrize(("name", "address", "sent"), [
    ("openai/gpt-4o-mini", "https://api.openai.com/v1", "gpt-4o-mini"),
    ("minimax/MiniMax-M2.1", "https://api.minimax.io/v1", "MiniMax-M2.1"),
    ("MiniMax/MiniMax-M2.1", "https://api.minimax.io/v1", "MiniMax-M2.1"),
    ("ollama/qwen3:8b", "http://localhost:11434/v1", "qwen3:8b"),
    ("lmstudio/openai/gpt-oss-20b", "http://localhost:1234/v1", "openai/gpt-oss-20b"),
])  # fmt: skip
def test_a_prefix_says_where_the_model_is(name: str, address: str, sent: str) -> None:
    """And is no part of its name there; the name that is kept is the one of the settings."""
    assert where(model=name) == (address, sent)
    assert opened(model=name).name == name


def test_an_address_of_ones_own_counts_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any server, for any name; a name without a known prefix is sent as it is."""
    url = "http://localhost:8000/v1/"
    assert where(model="meta/llama-3", base_url=url) == ("http://localhost:8000/v1", "meta/llama-3")
    assert where(model="minimax/M2", base_url=url)[1] == "M2"
    assert where(model="openai/openai/gpt-oss", base_url=url)[1] == "openai/gpt-oss"
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0:1234")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:7/v1")
    assert where(model="ollama/x")[0] == "http://127.0.0.1:1234/v1"
    assert where(model="openai/x")[0] == "http://localhost:7/v1"
    assert where(model="ollama/x", base_url=url)[0] == "http://localhost:8000/v1"


@pytest.mark.parametrize(("settings", "words"), [
    ({"model": "gpt-4o"}, "such as openai/gpt-4o"), ({"model": "openai/"}, "names no model"),
    ({"model": "x/y"}, "llm.base_url"), ({"model": "x", "base_url": "ftp://a/v1"}, "base_url"),
    ({"model": "openai/x", "window": 100, "max_tokens": 100}, "llm.window 100"),
    ({"model": "openai/x", "api_key_env": PASTED}, "api_key_env"),
])  # fmt: skip
def test_settings_that_fit_no_model_are_a_mistake(settings: dict[str, object], words: str) -> None:
    """Before anything is asked, with what would fit."""
    with pytest.raises(ConfigError) as caught:
        opened(**settings)
    told = f"{caught.value.message} {caught.value.remedy}"
    assert words in told
    assert PASTED not in told


def test_the_key_is_that_of_the_provider_or_of_the_variable_that_is_named(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each provider has its own; Ollama and LM Studio ask for none and get none."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    monkeypatch.setenv("MINIMAX_API_KEY", "key-of-minimax")
    monkeypatch.setenv("MINE", "key-of-mine")
    for name in ("toy", "openai/toy", "minimax/toy", "ollama/toy", "lmstudio/toy"):
        of(server, model=name).ask()
        of(server, model=name, api_key_env="MINE").ask()
    found = [str(key).removeprefix("Bearer key-of-") for key in server.keys[::2]]
    assert found == ["openai", "openai", "minimax", "Bearer none", "Bearer none"]
    assert set(server.keys[1::2]) == {"Bearer key-of-mine"}
    assert {body["model"] for body in server.asked} == {"toy"}


def test_elsewhere_a_key_is_needed() -> None:
    """Without it nothing is sent, and the variable is named."""
    with pytest.raises(ConfigError, match=r"\$MINIMAX_API_KEY is not set"):
        Asker({"model": "minimax/MiniMax-M2.1"}).ask()


def test_the_ways_that_the_readme_shows_name_a_model(tmp_path: Path) -> None:
    """Each line can be copied into memfas.yaml as it stands."""
    (block,) = code_blocks(REPO / "README.md", "yaml")
    for line in block.splitlines():
        (tmp_path / "memfas.yaml").write_text(f"{line}\n")
        model = open_model(load(tmp_path / "memfas.yaml").llm, lambda call: None)
        assert model is not None, line
        assert model.payload(PLAIN), line


def test_windows_are_known_or_set() -> None:
    """Ollama cuts what is longer than 4096 tokens unless it was told otherwise; so is ours."""
    assert (opened(model="ollama/x").window, opened(model="ollama/x").max_tokens) == (4096, 2048)
    assert opened(model="ollama/x", window=32_000).max_tokens == 4096
    assert opened(model="minimax/x").window > 200_000
    assert opened(model="x", base_url="http://localhost/v1").window == 32_768
    assert opened(command="cat").window == 32_768


@pytest.mark.parametrize("line", [
    "model: 5", "model: ' '", "base_url: localhost:8000", "timeout: 0", "timeout: -1",
    "timeout: 1e9", "timeout: '30'", "timeout: .inf", "timeout: .nan", "max_tokens: 0",
    "max_tokens: 1.5", "max_tokens: true", "temperature: 3", "temperature: hot", "window: 0",
    "window: -5", "command: [a, b]", "price_in: -1", "price_out: cheap", "price_in: .nan",
    f"api_key_env: {PASTED}",
])  # fmt: skip
def test_a_wrong_value_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    """File, line and key; of a key that is pasted in the wrong place nothing is repeated."""
    memory = Memory(tmp_path)
    memory.write("memfas.yaml", f"timezone: local\nllm:\n  {line}\n")
    done = memory.run("config")
    assert done.status == 3
    assert "memfas.yaml:3" in done.errors
    assert f"llm.{line.partition(':')[0]}" in done.errors
    assert "aB3dE5" not in done.everything


def test_a_key_that_is_not_known_is_not_guessed(tmp_path: Path) -> None:
    """`modle` is answered with what was meant."""
    memory = Memory(tmp_path)
    memory.write("memfas.yaml", "llm: {modle: x}\n")
    done = memory.run("config")
    assert (done.status, "llm.model" in done.errors) == (3, True)


def test_the_settings_in_force_are_shown_without_what_is_secret(tmp_path: Path) -> None:
    """`memfas config` names each with its line; passwords in an address or a command are cut."""
    memory = Memory(tmp_path)
    memory.write(
        "memfas.yaml",
        "llm:\n  model: ollama/qwen3\n  base_url: http://me:hunter2x9@localhost:11434/v1\n"
        f"  command: ask --key {PASTED}\nabstracts: {{writer: model}}\n",
    )
    for done in (memory.run("config"), memory.run("config", "--json")):
        assert done.status == 0
        assert "ollama/qwen3" in done.text
        assert "llm.timeout" in done.text
        assert "hunter2x9" not in done.text
        assert PASTED not in done.text
    assert 'llm.model: "ollama/qwen3"  # ' in memory.run("config").text
    settings = load(tmp_path / "memfas.yaml")
    assert (settings.llm.model, settings.writer) == ("ollama/qwen3", "model")
