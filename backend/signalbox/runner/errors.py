"""The errors of a run in a program."""

from signalbox.core.codes import Code
from signalbox.core.errors import SignalboxError
from signalbox.runner.answer import Answer


class RunError(SignalboxError):
    """A run failed: its status is neither "complete" nor "cancelled". `answer` contains the text so far."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(Code(answer.code) if answer.code else Code.INTERNAL, answer.error)
        self.answer = answer


class UsageError(RuntimeError):
    """The program used a run incorrectly. For example, the program iterated twice over the same run."""
