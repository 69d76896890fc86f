"""Find retired words in names, docstrings, comments, strings and pages, and say what to use instead.

The list with its exceptions is `scripts/retired_words.toml`. Arguments are files; without any, every file is checked.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts" / "retired_words.toml"
KINDS = frozenset(
    {
        ".py",
        ".ts",
        ".tsx",
        ".css",
        ".html",
        ".md",
        ".yaml",
        ".conf",
        ".service",
        ".bru",
        ".mjs",
        ".js",
        ".mako",
        ".toml",
    }
)
NAMED = frozenset({".env.example", ".ci/run", "just", "justfile", "deploy/Dockerfile"})
# A word may be a part of a_name or aName.
_WORD_START = r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"
_WORD_END = r"(?:(?![A-Za-z])|(?<=[a-z])(?=[A-Z]))"
# A phrase may continue in the next line of a comment, a docstring or a quoted paragraph.
_GAP = r"(?:\s+(?:(?:#|//|\*|>)\s+)?|-)"
_DEFINITION = r"(?:def|function|const|let)\s+(?:NAMES)(?=\s*(?:[(<]|=\s*(?:async\s*)?[(<]))"


@dataclass(frozen=True, slots=True)
class Retired:
    """A word or a function name that is no longer used; a lower-case text without `probe` cannot contain it."""

    probe: re.Pattern[str]
    pattern: re.Pattern[str]
    use: str


@dataclass(slots=True)
class Allowed:
    """An exception; `used` as soon as something needed it."""

    words: frozenset[str]
    paths: tuple[str, ...]
    phrases: tuple[str, ...]
    reason: str
    used: bool = False

    def use(self, path: str, word: str, lines: str) -> bool:
        """Return whether a word in these lines of a file is allowed, and remember that it was needed."""
        covers = (
            ("*" in self.words or word.lower() in self.words)
            and any(fnmatchcase(path, glob) for glob in self.paths)
            and (not self.phrases or any(phrase in lines for phrase in self.phrases))
        )
        self.used = self.used or covers
        return covers


@dataclass(frozen=True, slots=True)
class Finding:
    """One retired word in one line."""

    path: str
    line: int
    word: str
    use: str

    def __str__(self) -> str:
        """Format it as compilers do."""
        return f"{self.path}:{self.line}: “{self.word}” is retired; use {self.use}"


@dataclass(frozen=True, slots=True)
class WordList:
    """The list: retired words, exceptions, and files of which only the title is checked."""

    retired: tuple[Retired, ...]
    allowed: tuple[Allowed, ...]
    titles: tuple[str, ...]

    @classmethod
    def load(cls, path: Path = LIST) -> Self:
        """Load the list from its file."""
        stored: dict[str, list[dict[str, Any]]] = tomllib.loads(path.read_text(encoding="utf-8"))
        words = [_retired_word(entry["pattern"], entry["use"]) for entry in stored.get("word", [])]
        names = [_retired_name(entry["names"], entry["use"]) for entry in stored.get("name", [])]
        allowed = [
            Allowed(frozenset(entry["words"]), tuple(entry["paths"]), tuple(entry.get("phrases", ())), entry["reason"])
            for entry in stored.get("allowed", [])
        ]
        return cls((*words, *names), tuple(allowed), tuple(entry["path"] for entry in stored.get("title", [])))

    def check(self, path: str, text: str) -> Iterator[Finding]:
        """Yield what is retired and not allowed in a file's path and text."""
        yield from self._search(path, path, 0)
        if any(fnmatchcase(path, glob) for glob in self.titles):
            text = text.partition("\n")[0]
        yield from self._search(path, text, 1)

    def unused(self) -> list[Allowed]:
        """Return the exceptions that nothing has needed."""
        return [entry for entry in self.allowed if not entry.used]

    def _search(self, path: str, text: str, first_line: int) -> Iterator[Finding]:
        """Yield the findings in a text whose lines count from `first_line`."""
        lower = text.lower()
        for entry in self.retired:
            for match in entry.pattern.finditer(text) if entry.probe.search(lower) else ():
                start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
                lines = text[start : end if end >= 0 else len(text)]
                word = " ".join(match.group().split())
                if not any(allowed.use(path, word, lines) for allowed in self.allowed):
                    yield Finding(path, text.count("\n", 0, match.start()) + first_line, word, entry.use)


def _retired_word(pattern: str, use: str) -> Retired:
    """Match whole words, also as parts of an identifier."""
    pattern = pattern.replace(" ", _GAP)
    return Retired(re.compile(pattern), re.compile(f"{_WORD_START}(?i:{pattern}){_WORD_END}"), use)


def _retired_name(names: Iterable[str], use: str) -> Retired:
    """Match the definition of a function with one of these names."""
    joined = "|".join(names)
    return Retired(re.compile(f" (?:{joined})[ (<]"), re.compile(_DEFINITION.replace("NAMES", joined)), use)


def tracked() -> list[str]:
    """Return the paths of the files in git that the list applies to."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    return [path for path in listed if path in NAMED or Path(path).suffix in KINDS]


def main(arguments: list[str]) -> int:
    """Check the files named, or all; print what was found and return the exit status."""
    words = WordList.load()
    paths = arguments or [path for path in tracked() if (ROOT / path).is_file()]
    findings = [finding for path in paths for finding in words.check(path, (ROOT / path).read_text(encoding="utf-8"))]
    for finding in findings:
        print(finding)
    unused = [] if arguments else words.unused()
    for entry in unused:
        print(f"{LIST.name}: nothing needs this exception, remove it: {entry.reason} ({', '.join(entry.paths)})")
    print(f"{len(paths)} files, {len(findings)} retired words, {len(unused)} unused exceptions")
    return 1 if findings or unused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
