"""Checks the format of API keys: a key of another service, or one that was copied with quotes or a prefix."""

from urllib.parse import urlsplit

# How the keys of well-known services begin. OpenAI's beginning is also that of the others, so they come first.
_BEGINNINGS = {"openrouter.ai": "sk-or-", "api.anthropic.com": "sk-ant-", "api.openai.com": "sk-"}
_QUOTES = "\"'`"


def fault_in_key(key: str, base_url: str) -> str | None:
    """Return what is unusual about a key of this server, as a clause without the key; None if nothing is."""
    if key[0] in _QUOTES or key[-1] in _QUOTES:
        return "is in quotes"
    if "…" in key or key.endswith("..."):
        return "is shortened"
    host = urlsplit(base_url).hostname or ""
    wanted = _BEGINNINGS.get(host)
    if wanted is None:
        return None
    owner, beginning = next((row for row in _BEGINNINGS.items() if key.startswith(row[1])), ("", ""))
    if owner == host:
        return None
    if owner:
        return f"begins with {beginning}, like a key of {owner}"
    return f"does not begin with {wanted}"
