"""The table of dialects: one row for each upstream API that Signalbox speaks."""

from dataclasses import dataclass

from signalbox.wire.anthropic.dialect import AnthropicMessages
from signalbox.wire.dialect import Dialect, Upstream
from signalbox.wire.gemini.dialect import Gemini
from signalbox.wire.openai_responses.dialect import OpenAIResponses
from signalbox.wire.openrouter.dialect import ChatCompletions, OpenRouter

_ROWS: tuple[Dialect, ...] = (
    OpenRouter(),
    ChatCompletions(),
    Gemini(),
    OpenAIResponses(),
    AnthropicMessages(),
)
DIALECTS = {dialect.name: dialect for dialect in _ROWS}


@dataclass(frozen=True, slots=True)
class Host:
    """A well-known server: its base URL, and the environment variable that usually holds the API key.

    `dialect` is set if the base URL does not name the dialect.
    """

    base_url: str
    key_variable: str
    dialect: str | None = None


HOSTS = {
    "openrouter": Host("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "openai": Host("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "gemini": Host("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    "anthropic": Host("https://api.anthropic.com", "ANTHROPIC_API_KEY", AnthropicMessages.name),
}
# The dialect of a server whose base URL names none.
_DEFAULT = ChatCompletions.name


def dialect_at(base_url: str) -> Dialect:
    """Return the dialect that a server speaks: a well-known server, or the path that its base URL ends with."""
    path = base_url.rstrip("/")
    if known := next((host.dialect for host in HOSTS.values() if host.dialect and path == host.base_url), None):
        return DIALECTS[known]
    named = (dialect for dialect in DIALECTS.values() if dialect.base_path and path.endswith(dialect.base_path))
    return next(named, DIALECTS[_DEFAULT])


def upstream_at(
    base_url: str, api_key: str | None = None, *, referer: str | None = None, title: str | None = None
) -> Upstream:
    """Return the upstream at a base URL, in the dialect that the URL names."""
    return Upstream(dialect_at(base_url), base_url, api_key, referer, title)
