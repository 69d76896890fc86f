"""Tracks whether a position in a Markdown text is inside code, while the text streams."""

import re

_MARGIN = re.compile(r"[\s>]*")
# A list marker may precede an opening fence: a fence in a list is indented by more than three spaces.
_LIST_MARGIN = re.compile(r"[\s>\-*+.)\d]*")


class CodeTracker:
    """Tracks code fences and inline code from plain text, runs of backticks or tildes, backslashes and line breaks.

    It follows CommonMark, except that a code fence may have any indentation, because it may be in a list. An unclosed
    code span ends with its paragraph.
    """

    def __init__(self) -> None:
        self.escaped = False
        self._fence = ""
        self._span = 0
        self._maybe_fence = False  # the open span may be a code fence: it begins its line, and no backtick followed
        self._closing = False  # the line closes the code fence if it contains nothing else
        self._run = ""
        self._run_leads = False
        self._leads = True  # the line contains only margin so far
        self._blank = True

    @property
    def inside(self) -> bool:
        """Whether the next character is code; valid after `settle`."""
        return bool(self._fence or self._span)

    @property
    def is_indifferent(self) -> bool:
        """Whether plain text would not change the state."""
        return not (self._leads or self._blank or self._closing or self.escaped or self._run)

    def settle(self, letter: str) -> None:
        """End the current run if the next character is a different one."""
        if self._run and self._run[0] != letter:
            self._end_run(self._run)
            self._run = ""

    def plain(self, text: str) -> None:
        """Process text without marks of code."""
        self.escaped = False
        self._leads = self._leads and bool((_MARGIN if self._fence else _LIST_MARGIN).fullmatch(text))
        if not _MARGIN.fullmatch(text):
            self._blank = self._closing = False

    def run(self, letters: str) -> None:
        """Process backticks or tildes; more may follow."""
        if self.escaped and letters[0] == "`":
            letters = letters[1:]
            self.plain("`")
        self.escaped = False
        if letters:
            self._run_leads = self._run_leads if self._run else self._leads
            self._leads = self._blank = False
            self._run += letters

    def backslash(self) -> None:
        """Process a backslash outside code."""
        escaped = not self.escaped
        self.plain("\\")
        self.escaped = escaped

    def newline(self) -> None:
        """Process the end of a line."""
        if self._maybe_fence:
            self._fence, self._span = "`" * self._span, 0
        elif self._closing:
            self._fence = ""
        elif self._blank:
            self._span = 0
        self.escaped = self._maybe_fence = self._closing = False
        self._leads = self._blank = True

    def _end_run(self, run: str) -> None:
        fences = self._run_leads and len(run) >= 3
        if self._fence:
            self._closing = self._run_leads and run.startswith(self._fence)
        elif self._span and run[0] == "`":
            self._span = 0 if len(run) == self._span else self._span
            self._maybe_fence = False
        elif not self._span and run[0] == "`":
            self._span, self._maybe_fence = len(run), fences
        elif not self._span and fences:
            self._fence = run
