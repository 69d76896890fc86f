"""Reads chosen strings of a JSON object while the object arrives: each piece of text is scanned once, in C."""

import json
import re
from enum import Enum
from functools import cache

from msgspec import Struct

from signalbox.core.messages import JsonValue
from signalbox.wire.json_text import clean_text

# Separators that follow each other are one match.
_STRUCTURE = re.compile(r'["{}\[\]]|[,:][\s,:]*+')
# Inside of objects and arrays that contain no chosen string, all up to the next bracket or cut string is one match.
_SKIPPED = re.compile(r'(?:[^"{}\[\]]++|"(?:[^"\\\x00-\x1f]++|\\.)*+")*+(["{}\[\]])')
# Whole characters of a string. The first half of a surrogate pair waits for the text that follows it: only then is it
# known whether it is one character with the second half, or has no second half.
_CHARACTERS = re.compile(
    r"""(?:
        [^"\\\x00-\x1f]++
      | \\["\\/bfnrt]
      | \\u(?![dD][89abAB])[0-9a-fA-F]{4}
      | \\u[dD][89abAB][0-9a-fA-F]{2}
        (?: \\u[dD][c-fC-F][0-9a-fA-F]{2} | (?=[^\\] | \\[^u] | \\u[^dD] | \\u[dD][^c-fC-F]) )
    )*+""",
    re.VERBOSE,
)
# Strings after this many members of an object or array are not read, because each member costs a few steps of Python.
_MOST_MEMBERS = 1_000
# Of an unfinished escape, at most `\ud83d\ude0` is held back: more is no JSON.
_LONGEST_HELD = 11


class Piece(Struct, frozen=True):
    """The next piece of the string at `key`, a JSON Pointer."""

    key: str
    text: str


class Choice(Struct, frozen=True):
    """Which strings are chosen at one place of an object: this one, or some inside, by key. `*` is any index."""

    is_chosen: bool = False
    inside: dict[str, "Choice"] = {}


@cache
def choice_of(pointers: tuple[str, ...]) -> Choice:
    """Return the choice of the strings at these JSON Pointers, in which `*` stands for any index of an array."""
    heads: dict[str, list[str]] = {}
    for pointer in pointers:
        if pointer:
            head, slash, tail = pointer[1:].partition("/")
            heads.setdefault(_unescaped(head), []).append(slash + tail)
    return Choice("" in pointers, {head: choice_of(tuple(tails)) for head, tails in heads.items()})


class _Reads(Enum):
    """What is read: structure, or the inside of a string."""

    STRUCTURE = 1
    KEY = 2
    CHOSEN = 3
    IGNORED = 4


class _Level(Struct):
    """An open object or array in which strings may be chosen. `key` is the current key, `index` counts the members."""

    choice: Choice
    pointer: str
    is_array: bool
    key: str = ""
    index: int = 0
    expects_key: bool = True
    seen: set[str] = set()


class StringReader(Struct):
    """Reads the strings of a `choice`.

    `is_wrong` is set if the text is no JSON, or if a key that may contain a chosen string occurs twice: the later value
    then replaces the earlier one, whose pieces were returned. Nothing is read after that. Most errors outside of
    strings are not found.
    """

    choice: Choice
    is_wrong: bool = False
    _reads: _Reads = _Reads.STRUCTURE
    _levels: list[_Level] = []
    _skipped: int = 0
    _held: str = ""
    _key: list[str] = []
    _pointer: str = ""

    def feed(self, text: str) -> list[Piece]:
        """Return the pieces of chosen strings in the next piece of the object."""
        pieces: list[Piece] = []
        text, self._held = self._held + text, ""
        at = 0
        while at < len(text) and not self.is_wrong:
            at = self._structure(text, at) if self._reads is _Reads.STRUCTURE else self._string(text, at, pieces)
        return pieces

    def _string(self, text: str, at: int, pieces: list[Piece]) -> int:
        """Read a string up to its end, or the end of the text; return the index after it."""
        found = _CHARACTERS.match(text, at)
        end = found.end() if found else at
        if end > at:
            self._take(text[at:end], pieces)
        if text[end : end + 1] == '"':
            self._end_string()
            return end + 1
        if end < len(text):
            self._held = text[end:]
            self.is_wrong = text[end] != "\\" or len(self._held) > _LONGEST_HELD
        return len(text)

    def _take(self, raw: str, pieces: list[Piece]) -> None:
        if self._reads is _Reads.CHOSEN:
            pieces.append(Piece(self._pointer, _decoded(raw)))
        elif self._reads is _Reads.KEY:
            self._key.append(_decoded(raw))

    def _end_string(self) -> None:
        if self._reads is _Reads.KEY:
            level = self._levels[-1]
            level.key, self._key = "".join(self._key), []
            if level.key in level.choice.inside:
                self.is_wrong = level.key in level.seen
                level.seen.add(level.key)
        self._reads = _Reads.STRUCTURE

    def _structure(self, text: str, at: int) -> int:
        """Read up to the next character of the structure; return the index after it."""
        found = _SKIPPED.match(text, at) if self._skipped else _STRUCTURE.search(text, at)
        if found is None:
            return len(text)
        match found[1] if self._skipped else found[0]:
            case '"':
                self._begin_string()
            case "{" | "[" as opening:
                self._open(is_array=opening == "[")
            case "}" | "]":
                self._close()
            case separators:
                self._separate(separators.strip())
        return found.end()

    def _begin_string(self) -> None:
        level = self._levels[-1] if self._levels else None
        if self._skipped or level is None:
            self._reads = _Reads.IGNORED
        elif level.expects_key and not level.is_array:
            self._reads = _Reads.KEY
        else:
            self._pointer = _pointer_of(level)
            self._reads = _Reads.CHOSEN if _chosen_in(level).is_chosen else _Reads.IGNORED

    def _open(self, *, is_array: bool) -> None:
        if self._skipped:
            self._skipped += 1
        elif not self._levels:
            self._levels.append(_Level(self.choice, "", is_array))
        elif (choice := _chosen_in(self._levels[-1])).inside:
            self._levels.append(_Level(choice, _pointer_of(self._levels[-1]), is_array))
        else:
            self._skipped = 1

    def _close(self) -> None:
        if self._skipped:
            self._skipped -= 1
        elif self._levels:
            self._levels.pop()

    def _separate(self, separators: str) -> None:
        self.is_wrong = len(separators) > 1
        if self._levels:
            level = self._levels[-1]
            level.expects_key = separators == ","
            level.index += level.expects_key
            if level.index == _MOST_MEMBERS:
                self._levels.pop()
                self._skipped = 1


_NOTHING = Choice()


def _chosen_in(level: _Level) -> Choice:
    """Return what is chosen of the current value of a level."""
    return level.choice.inside.get("*" if level.is_array else level.key, _NOTHING)


def _pointer_of(level: _Level) -> str:
    return f"{level.pointer}/{level.index if level.is_array else _escaped(level.key)}"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _unescaped(key: str) -> str:
    return key.replace("~1", "/").replace("~0", "~")


def _decoded(raw: str) -> str:
    """Return whole characters of a string as text, as `read_arguments` reads them."""
    return clean_text(json.loads(f'"{raw}"')) if "\\" in raw else raw


def string_at(value: JsonValue, pointer: str) -> str | None:
    """Return the string at a JSON Pointer in a value, None if there is none."""
    for token in pointer.split("/")[1:]:
        if isinstance(value, dict):
            value = value.get(_unescaped(token))
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
    return value if isinstance(value, str) else None
