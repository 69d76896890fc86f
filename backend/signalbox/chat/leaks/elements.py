"""The elements of a dialect: marks, names, text up to a mark, JSON values; each can arrive in pieces."""

import re
from collections.abc import Generator
from typing import Protocol, TypeAlias

from signalbox.chat.leaks.marks import compiled

# The longest white space between two marks.
_MOST_SPACE = 64
_SPACE = re.compile(rf"\s{{0,{_MOST_SPACE + 1}}}")
_NAME = re.compile(r"[\w.\-:/]{0,128}[ \t]{0,8}", re.ASCII)
_ATTRIBUTES = re.compile(r"[^<>\n]{0,256}")
_JSON = re.compile(r'["{}\[\]]|\\.|\\\Z', re.DOTALL)


class MismatchError(Exception):
    """The text is not in the dialect that its opener belongs to."""


class Element(Protocol):
    """One element that a dialect reads."""

    optional: bool

    @property
    def value(self) -> str:
        """What was found."""
        ...

    def consume(self, text: str, pos: int) -> tuple[bool, int]:
        """Read from an index; return whether the element is complete, and the next index. Raises MismatchError."""
        ...


# A dialect is a generator: it yields one element after the other, and is sent what was found.
Reader: TypeAlias = Generator[Element, str, None]


def _after_space(text: str, pos: int) -> int:
    found = _SPACE.match(text, pos)
    return found.end() if found else pos


class Next:
    """One of several marks, after white space; a missing optional mark is "" and consumes nothing."""

    def __init__(self, *marks: str, optional: bool = False) -> None:
        self.value = ""
        self.optional = optional
        self._marks = marks

    def consume(self, text: str, pos: int) -> tuple[bool, int]:
        """Read until the marks can be distinguished."""
        start = _after_space(text, pos)
        far = start - pos > _MOST_SPACE
        if start == len(text) and not far:
            return False, pos
        found = None if far else compiled(self._marks).match(text, start)
        if found is None:
            return self._absent(pos)
        if found.lastindex is None:
            return False, pos
        self.value = self._marks[found.lastindex - 1]
        return True, found.end()

    def _absent(self, pos: int) -> tuple[bool, int]:
        if not self.optional:
            raise MismatchError
        return True, pos


class Name:
    """A name followed by one of several marks; fails at the first character that fits neither."""

    shape = _NAME

    def __init__(self, *marks: str) -> None:
        self.value = ""
        self.optional = False
        self.mark = ""
        self._marks = marks

    def consume(self, text: str, pos: int) -> tuple[bool, int]:
        """Read the name and its mark; consumes nothing until both have arrived."""
        start = _after_space(text, pos)
        name = self.shape.match(text, start)
        if start - pos > _MOST_SPACE or name is None:
            raise MismatchError
        found = compiled(self._marks).match(text, name.end())
        if name.end() == len(text) or (found and found.lastindex is None):
            return False, pos
        if found is None or not found.lastindex or not name.group().strip():
            raise MismatchError
        self.value, self.mark = name.group().strip(), self._marks[found.lastindex - 1]
        return True, found.end()


class Attributes(Name):
    """The attributes of a tag, up to its end."""

    shape = _ATTRIBUTES


class LongElement:
    """Text that may be long, collected in pieces."""

    def __init__(self, begun: str = "") -> None:
        self.optional = False
        self._pieces = [begun]

    @property
    def value(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def drop(self) -> None:
        """Drop the text so far, because it exceeds the limit."""
        self._pieces.clear()


class Until(LongElement):
    """Any text up to one of several marks."""

    def __init__(self, *marks: str) -> None:
        super().__init__()
        self.mark = ""
        self._marks = marks

    def consume(self, text: str, pos: int) -> tuple[bool, int]:
        """Read the text that cannot belong to a mark."""
        found = compiled(self._marks).search(text, pos)
        end = found.start() if found else len(text)
        self._pieces.append(text[pos:end])
        if found is None or found.lastindex is None:
            return False, end
        self.mark = self._marks[found.lastindex - 1]
        return True, found.end()


class Json(LongElement):
    """The rest of a JSON object or list whose first characters were read; braces inside strings are text."""

    def __init__(self, begun: str) -> None:
        super().__init__(begun)
        self._depth = begun.count("{") + begun.count("[")
        self._in_string = begun.endswith('"')

    def consume(self, text: str, pos: int) -> tuple[bool, int]:
        """Read up to the bracket that closes the first one."""
        end = len(text)
        for found in _JSON.finditer(text, pos):
            if found.group() == "\\":  # the text ends in the middle of an escape
                end = found.start()
                break
            self._count(found.group())
            if self._depth == 0:
                end = found.end()
                break
        self._pieces.append(text[pos:end])
        return self._depth == 0, end

    def _count(self, found: str) -> None:
        if found == '"':
            self._in_string = not self._in_string
        elif not self._in_string and found[0] != "\\":
            self._depth += 1 if found in "{[" else -1
