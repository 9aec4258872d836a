"""Which model is asked: the settings under `llm:`, and what a name such as `ollama/qwen3` means."""

from __future__ import annotations

from dataclasses import dataclass

from agent_memfas.errors import ConfigError
from agent_memfas.remote.endpoint import USUAL_KEY
from agent_memfas.remote.surroundings import ollama_address, variable
from agent_memfas.text.record import Record

NONE = "none"
UNKNOWN_WINDOW = 32_768


@dataclass(frozen=True)
class LlmChoice:
    """The settings under `llm:` in memfas.yaml.

    model: `PROVIDER/NAME`, or the name that the server at base_url knows; "none" for no model.
    base_url, api_key_env: None for those of the provider. timeout: seconds for one question, all
    tries together. max_tokens: of an answer. window: tokens of prompt and answer together, None for
    what is known of the provider. command: a program that is the model. price_in, price_out: of a
    million tokens of prompts and of answers, in any currency.
    """

    model: str | None = NONE
    base_url: str | None = None
    api_key_env: str | None = None
    timeout: float = 120.0
    max_tokens: int = 4096
    temperature: float = 0.3
    window: int | None = None
    command: str | None = None
    price_in: float | None = None
    price_out: float | None = None

    @property
    def is_none(self) -> bool:
        """Whether no model is asked."""
        return not self.command and (self.model or NONE).strip().lower() == NONE


class Provider(Record):
    """What a prefix stands for. key: the variable of its key, "" where it asks for none. window:
    tokens that every model there takes, or takes unless it is set up otherwise.
    """

    home: str
    key: str
    window: int


# Ollama cuts a longer prompt off without a word, unless it was started with another length.
PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", USUAL_KEY, 128_000),
    "minimax": Provider("https://api.minimax.io/v1", "MINIMAX_API_KEY", 204_800),
    "ollama": Provider("http://localhost:11434/v1", "", 4096),
    "lmstudio": Provider("http://localhost:1234/v1", "", 4096),
}


class Target(Record):
    """Where a model is. model: its name as the server knows it. key: the variable that holds the
    key, "" for none.
    """

    model: str
    url: str
    key: str
    window: int


def target_of(choice: LlmChoice) -> Target:
    """The server, the name and the key that the settings mean. ConfigError where they mean none."""
    name = (choice.model or "").strip()
    prefix, slash, rest = name.partition("/")
    provider = PROVIDERS.get(prefix.lower()) if slash else None
    if provider is not None and not rest.strip():
        raise ConfigError(f"llm.model {name} names no model", f"such as {prefix}/NAME")
    if provider is None and not choice.base_url:
        raise ConfigError(
            f"llm.model {name}: it is not said where this model is",
            f"llm.base_url: an address, or one of {', '.join(PROVIDERS)} before the name, "
            f"such as openai/{name}",
        )
    key = choice.api_key_env
    if provider is None:
        url, usual, window = choice.base_url or "", USUAL_KEY, UNKNOWN_WINDOW
    else:
        url, usual, window = choice.base_url or _home(prefix.lower()), provider.key, provider.window
    model = rest.strip() if provider is not None else name
    return Target(model, url.rstrip("/"), usual if key is None else key, choice.window or window)


def _home(prefix: str) -> str:
    """Where a provider is, or where its own variable says it is."""
    if prefix == "ollama" and (address := ollama_address()):
        return f"{address.rstrip('/')}/v1"
    if prefix == "openai" and (address := variable("OPENAI_BASE_URL")):
        return address
    return PROVIDERS[prefix].home
