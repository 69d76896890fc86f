"""Redaction of log lines: secrets, and texts of other libraries that may quote a prompt."""

import re
from collections.abc import Sequence
from pathlib import Path
from traceback import StackSummary, walk_tb
from types import TracebackType
from typing import cast
from urllib.parse import quote

import orjson
from structlog.typing import EventDict

# A shorter secret would also match ordinary words and make the log unreadable.
_SHORTEST = 8
_MARK = "[secret]"
# A header with a credential, in an HTTP message, in JSON or in Python's repr: its value is removed.
_HEADER = re.compile(
    r"""((?:api-key|authorization)(?:["'\\]+\s*[:=,]|\s*[:=])\s*[bB]?["'\\]*(?:(?:basic|bearer|token)\s+)?)[^\s"'\\,]{8,}""",
    re.IGNORECASE,
)
_HEADER_SIGNS = ("pi-key", "pi-Key", "PI-KEY", "uthorization", "UTHORIZATION")
# Credentials that are not settings: API tokens, keys of other services, header values, passwords in URLs. An expression
# runs only if its marker is in the line: without this check they took 85 µs per run.
_CREDENTIALS = {
    "sb-": re.compile(r"\bsb-[0-9a-f]{12}-[\w-]+"),
    "sk-": re.compile(r"\bsk-[\w-]{16,}"),
    "://": re.compile(r"(?<=://)[^\s/:@\"]*:[^\s/@\"]+(?=@)"),
    "earer ": re.compile(r"(?<=[Bb]earer )[\w.~+/=-]{8,}"),
    "EARER ": re.compile(r"(?<=BEARER )[\w.~+/=-]{8,}"),
    "AIza": re.compile(r"\bAIza[\w-]{20,}"),
}
# A repr quotes every string, truncated ones too. An apostrophe inside a word is no quote.
_QUOTED = re.compile(r"""(?<!\w)[bBrRuUfF]{0,2}(["'`])(?:\\.|(?!\1).)*(?:\1|$)""")
_LONGEST_TEXT = 300
_MOST_FRAMES = 12
_MOST_CAUSES = 4


class Redactor:
    """Replaces secrets in a rendered log line: as they are, JSON-escaped or URL-encoded."""

    def __init__(self, secrets: Sequence[str]) -> None:
        known = {secret for secret in secrets if len(secret) >= _SHORTEST}
        forms = {form for secret in known for form in (secret, orjson.dumps(secret).decode()[1:-1], quote(secret, ""))}
        self._forms = sorted(forms, key=len, reverse=True)  # one may contain another

    def clean(self, line: str) -> str:
        """Return the line without secrets."""
        for form in self._forms:
            line = line.replace(form, _MARK)
        for sign, credential in _CREDENTIALS.items():
            if sign in line:
                line = credential.sub(_MARK, line)
        if any(sign in line for sign in _HEADER_SIGNS):
            line = _HEADER.sub(rf"\1{_MARK}", line)
        return line


def without_values(text: str) -> str:
    """Return the first line of another library's text without its quoted parts, which may be user content."""
    first = text.strip().partition("\n")[0]
    return _QUOTED.sub("…", first)[:_LONGEST_TEXT]


def describe(error: BaseException) -> EventDict:
    """Return the type of an error, the types of its causes and its frames, but not its message."""
    described: EventDict = {"error": type(error).__name__}
    causes: list[str] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and len(causes) < _MOST_CAUSES:
        causes.append(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    if causes:
        described["causes"] = causes
    if isinstance(error, BaseExceptionGroup):
        parts = cast("BaseExceptionGroup[BaseException]", error).exceptions
        described["errors"] = sorted({type(one).__name__ for one in parts})
    if frames := _frames(error.__traceback__):
        described["frames"] = frames
    return described


def _frames(traceback: TracebackType | None) -> list[str]:
    """Return file, line and function of the innermost frames, without source or values."""
    stack = StackSummary.extract(walk_tb(traceback), lookup_lines=False)
    return ["{}:{} {}".format("/".join(Path(one.filename).parts[-2:]), one.lineno, one.name) for one in stack][
        -_MOST_FRAMES:
    ]
