"""Removes leaked calls from an answer's text while it streams."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from signalbox.chat.leaks.dialects import OPENERS
from signalbox.chat.leaks.elements import Element, LongElement, MismatchError, Next, Reader
from signalbox.chat.leaks.leak import Leak
from signalbox.chat.leaks.markdown_code import CodeTracker
from signalbox.chat.leaks.marks import compiled, longest
from signalbox.core.messages import JsonObject
from signalbox.core.parts import RawCall

_MARKS = tuple(OPENERS)
_NOT_WORDS = "<[`~\n\\"
_WORDS = re.compile(rf"[^{re.escape(_NOT_WORDS)}]*")
_find_mark = re.compile(rf"[{re.escape(_NOT_WORDS)}]").search
_IN_CODE = re.compile(r"`+|~+|\n")
_MARKDOWN = re.compile(r"`+|~+|\n|\\")


def opener_pattern() -> re.Pattern[str]:
    """Return the pattern of all openers. The first call compiles it, which takes about 40 ms."""
    return compiled(_MARKS)


def _next_in_text(text: str, pos: int) -> re.Match[str] | None:
    """Return the next mark: a pattern is tried only at its possible first characters, which is much faster."""
    while found := _find_mark(text, pos):
        pos = found.start()
        pattern = opener_pattern() if text[pos] in "<[" else _MARKDOWN
        if mark := pattern.match(text, pos):
            return mark
        pos += 1
    return None


# Fewer characters than this of ordinary text are held back.
LONGEST_OPENER = longest(_MARKS)


class _LeakInProgress:
    """A leak in progress: the index of its opener, its dialect, and what the dialect reads next."""

    def __init__(self, start: int, leak: Leak, reader: Reader) -> None:
        self.start = start
        self.leak = leak
        self._reader = reader
        self._element: Element | None = None

    def advance(self, text: str, pos: int, *, final: bool) -> tuple[bool, int]:
        """Continue reading; return whether the leak has ended, and the next index."""
        try:
            element = self._element or next(self._reader)
            while True:
                found, pos = self._step(element, text, pos)
                if not found and (not final or not element.optional):
                    self._element = element
                    return final, len(text) if final else pos
                if not found and text[pos:].strip():  # part of a closing mark at the end belongs to the leak
                    pos = len(text)
                element = self._reader.send(self._found(element))
        except (StopIteration, MismatchError):
            return True, pos

    def _step(self, element: Element, text: str, pos: int) -> tuple[bool, int]:
        found, end = element.consume(text, pos)
        self.leak.size += end - pos
        if self.leak.is_too_long and isinstance(element, LongElement):
            element.drop()
        return found, end

    def _found(self, element: Element) -> str:
        """Return what was found; of a leak over the limit only marks, which show where it ends."""
        return element.value if isinstance(element, Next) or not self.leak.is_too_long else ""


class LeakFilter:
    """Separates the visible text of one answer from leaked calls.

    Text passes at once, except for the last few characters if an opener may begin with them. After an opener the text
    is held back until it is certain whether it is markup, which is removed, or not (`the <tool_call> tag is …`). Code
    passes unchanged. The result does not depend on how the stream is cut. The cost is linear in the length of the text,
    and at most `leak.MAX_LENGTH` characters of a leak are stored.

    `schemas` maps the names of the offered tools to the JSON Schema of their parameters. It decides whether `5` is a
    number or text, and whether a single word in a tag is a call. Names are as the model wrote them, without Kimi's
    `functions.` and `:0`. The caller decides whether such a tool exists, and whether to run the calls.
    """

    def __init__(self, schemas: Mapping[str, JsonObject] | None = None) -> None:
        self.leaked: list[RawCall] = []
        self.has_markup = False  # markup was removed, whether or not it contained a call
        self._schemas = schemas or {}
        self._code = CodeTracker()
        self._reading: _LeakInProgress | None = None
        self._held = ""
        self._pos = 0
        self._last_shown = "\n"  # the beginning counts as white space
        self._closes_gap = False
        self._is_quiet = False  # plain words do not change the state

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return len(self._held)

    def feed(self, text: str) -> str:
        """Return what may be shown now."""
        return text if self.passes_text(text) else self._run(text, final=False)

    def feed_all(self, texts: list[str]) -> list[str]:
        """Return what may be shown of many pieces; pieces that pass unchanged are not handled one by one."""
        out: list[str] = []
        whole, ends = "".join(texts), list(accumulate(map(len, texts)))
        at = 0
        while at < len(texts):
            words = _WORDS.match(whole, ends[at] - len(texts[at])) if self._is_quiet else None
            end = bisect_right(ends, words.end(), at) if words else at
            if end > at:
                self._last_shown = texts[end - 1]
                out += texts[at:end]
            else:
                end = at + 1
                if shown := self._run(texts[at], final=False):
                    out.append(shown)
            at = end
        return out

    def passes_text(self, text: str) -> bool:
        """Return whether a piece passes unchanged, as most do: only words, in the middle of a line."""
        if self._is_quiet and not _find_mark(text):
            self._last_shown = text
            return True
        return False

    def close(self) -> str:
        """Return what was held back and turned out to be text."""
        return self._run("", final=True) if self._held or self._reading else ""

    def _run(self, new: str, *, final: bool) -> str:
        text, pos = self._held + new, self._pos
        out: list[str] = []
        going = True
        while going:
            step = self._read if self._reading else self._scan
            pos, going = step(text, pos, out, final=final)
        keep = self._reading.start if self._reading and not self._reading.leak.certain else pos
        if self._reading:
            self._reading.start = 0
        self._held, self._pos = text[keep:], pos - keep
        is_waiting = self._held or self._reading or self._closes_gap
        self._is_quiet = not is_waiting and self._code.is_indifferent
        return "".join(out)

    def _read(self, text: str, pos: int, out: list[str], *, final: bool) -> tuple[int, bool]:
        """Continue reading a leak; return the next index, and whether to continue."""
        reading = self._reading
        assert reading is not None
        ended, pos = reading.advance(text, pos, final=final)
        self.has_markup = self.has_markup or reading.leak.certain
        if not ended:
            return pos, False
        self._reading = None
        if reading.leak.certain:
            self._closes_gap = self._last_shown[-1:].isspace()
            return pos, True
        return self._show(text, reading.start, reading.start + 1, out), True  # its first character is not an opener

    def _show(self, text: str, start: int, end: int, out: list[str]) -> int:
        """Pass plain text."""
        if end > start:
            self._code.plain(text[start:end])
            self._put(text[start:end], out)
        return end

    def _put(self, shown: str, out: list[str]) -> None:
        """Pass text; white space after a leak is dropped if white space precedes the leak."""
        if self._closes_gap:
            shown = shown.lstrip()
            self._closes_gap = not shown
        if shown:
            self._last_shown = shown
            out.append(shown)

    def _scan(self, text: str, pos: int, out: list[str], *, final: bool) -> tuple[int, bool]:
        """Pass text up to the next opener; return the next index, and whether there was an opener."""
        while pos < len(text):
            self._code.settle(text[pos])
            found = _IN_CODE.search(text, pos) if self._code.inside else _next_in_text(text, pos)
            pos = self._show(text, pos, found.start() if found else len(text), out)
            if found is None:
                break
            self._code.settle(text[pos])
            if text[pos] not in "<[" or self._code.escaped:
                pos = self._mark(text, pos, found, out)
            elif found.lastindex:
                self._open(_MARKS[found.lastindex - 1], pos)
                return found.end(), True
            elif final:
                pos = self._show(text, pos, pos + 1, out)
            else:
                break
        return pos, False

    def _mark(self, text: str, pos: int, found: re.Match[str], out: list[str]) -> int:
        """Pass a mark that may begin or end code; an escaped character is plain text."""
        match text[pos]:
            case "<" | "[":
                return self._show(text, pos, pos + 1, out)
            case "\n":
                self._code.newline()
            case "\\":
                self._code.backslash()
            case _:
                self._code.run(found.group())
        self._put(found.group(), out)
        return found.end()

    def _open(self, opener: str, start: int) -> None:
        leak = Leak(self._schemas, self.leaked)
        self._reading = _LeakInProgress(start, leak, OPENERS[opener](leak, opener))


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A complete text, separated: visible text, the calls found, and whether markup was removed."""

    text: str
    calls: tuple[RawCall, ...]
    has_markup: bool


def parse_leak(text: str, schemas: Mapping[str, JsonObject] | None = None) -> ParsedText:
    """Separate a complete text."""
    leaks = LeakFilter(schemas)
    shown = leaks.feed(text) + leaks.close()
    return ParsedText(shown, tuple(leaks.leaked), leaks.has_markup)
