"""The errors of a run in a program."""

from signalbox.core.codes import Code
from signalbox.core.errors import SignalboxError
from signalbox.runner.answer import Answer


class RunError(SignalboxError):
    """The run neither completed nor was stopped; `answer` contains the text until then."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(Code(answer.code) if answer.code else Code.INTERNAL, answer.error)
        self.answer = answer


class UsageError(RuntimeError):
    """The program used a run incorrectly, for example iterated over it twice."""
