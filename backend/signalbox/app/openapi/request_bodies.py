"""The JSON bodies that requests send, except a question: its schema is in intakes/v1_schema.py."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from signalbox.conversations.titles import one_line
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.intakes.threads import ThreadId
from signalbox.intakes.v1_schema import JsonObject as JsonData
from signalbox.intakes.v1_schema import Name, ShortText, Strict
from signalbox.wire.json_text import dumps

DATA_BYTES = 64 * 1024


def _one_line(title: str) -> str:
    line = one_line(title)
    if not line:
        raise ValueError("must contain a visible character")
    return line


Title = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_one_line)]


class CreateConversation(Strict):
    """A new conversation."""

    title: Title | None = Field(default=None, description="Default: the first words of the first message.")
    id: Name | None = Field(default=None, description="Default: a new id.")


class UpdateConversation(Strict):
    """A new title, or the node that the next question follows."""

    title: Title | None = None
    leaf_id: Name | None = Field(default=None, description="The node that the next question follows.")

    @model_validator(mode="after")
    def _something(self) -> "UpdateConversation":
        if self.title is None and self.leaf_id is None:
            raise ValueError("needs title or leaf_id")
        return self


class RestoreVersion(Strict):
    """The version of a file to restore."""

    version: Annotated[int, Field(ge=1, description="A version on the branch, as `file-versions` lists it.")]


class CreateSave(Strict):
    """Which run to save."""

    run_id: str = Field(description="A finished run.")
    title: Title | None = Field(default=None, description="Default: the first words of the question.")
    data: JsonData = Field(
        default_factory=dict[str, JsonValue],
        description=f"Any JSON object of the client, at most {DATA_BYTES // 1024} KB; returned unchanged.",
    )

    @field_validator("data")
    @classmethod
    def _within_limit(cls, data: JsonObject) -> JsonObject:
        if len(dumps(data)) > DATA_BYTES:
            raise ValueError(f"takes at most {DATA_BYTES // 1024} KB")
        return data


class FlagOverride(Strict):
    """The override of the feature flag: V2 for no conversation, all, or a share of them; `default` removes it."""

    state: Literal["off", "on", "percent", "default"]
    percent: Annotated[int, Field(ge=0, le=100)] | None = Field(
        default=None, description="The share; required with state percent and allowed only with it."
    )

    @model_validator(mode="after")
    def _share(self) -> "FlagOverride":
        if (self.state == "percent") != (self.percent is not None):
            raise ValueError("percent is required with state percent and allowed only with it")
        return self


class ResumeThread(BaseModel):
    """Of which thread to resume the answer; other fields of the client are accepted."""

    model_config = ConfigDict(strict=True)

    thread_id: ThreadId | None = Field(default=None, alias="threadId")


class ResumeRun(ResumeThread):
    """Which run to resume, absent: the one that is running in the thread."""

    run_id: ShortText | None = Field(default=None, alias="runId", description="As resume-state returned it.")
