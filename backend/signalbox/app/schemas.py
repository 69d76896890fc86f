"""What a client may send beside a question, and the body of every error."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, StringConstraints, model_validator

from signalbox.conversations.titles import one_line
from signalbox.intakes.v1_schema import Name, Strict


class ErrorBody(BaseModel):
    """What went wrong before a run: a code, a sentence, and the field where it is one."""

    code: str
    message: str
    field: str | None = None


class ErrorAnswer(BaseModel):
    """The body of every answer of 400 and above."""

    error: ErrorBody


def _one_line(title: str) -> str:
    line = one_line(title)
    if not line:
        raise ValueError("must contain a visible character")
    return line


Title = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_one_line)]


class ConversationIn(Strict):
    """A conversation to begin; both fields may be left out."""

    title: Title | None = None
    id: Name | None = None


class ConversationChange(Strict):
    """What shall be different: the title, or the node that the next question follows."""

    title: Title | None = None
    leaf_id: Name | None = None

    @model_validator(mode="after")
    def _something(self) -> "ConversationChange":
        if self.title is None and self.leaf_id is None:
            raise ValueError("needs title or leaf_id")
        return self
