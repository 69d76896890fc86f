"""The JSON of responses with conversations, as types (see `response_types.py`)."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from signalbox.app.openapi.response_types import REF, Deleted, NextPage, RecordedEvent
from signalbox.core.conversations import Role
from signalbox.core.events import LoopName, Status
from signalbox.core.workspace import Author
from signalbox.runs.trace import EpochSeconds, Usd


class ConversationInfo(TypedDict):
    """A conversation without its messages."""

    id: str
    title: str
    created: EpochSeconds
    updated: EpochSeconds


class ConversationSummary(ConversationInfo):
    """A conversation in a list."""

    messages: Annotated[int, Meta(description="Number of messages and answers.")]
    cost: Annotated[Usd | None, Meta(description="The sum over all runs, simulated ones included.")]
    paid: Annotated[Usd | None, Meta(description="The sum without simulated runs.")]
    model: Annotated[str | None, Meta(description="The model of the newest run.")]
    is_running: bool
    match: NotRequired[Annotated[str, Meta(description="The text around the first hit of `search`.")]]


class ConversationList(TypedDict):
    """A page of conversations, the most recently used first."""

    conversations: list[ConversationSummary]
    next: NextPage


class ConversationHead(ConversationInfo):
    """A conversation with the node that the next question follows."""

    leaf_id: Annotated[str | None, Meta(description="The node that the next question follows.")]


class HandedResult(TypedDict):
    """What the client's tool returned for a call that was handed to the client."""

    call_id: Annotated[str, Meta(description="The id of the call as the client received it.")]
    name: str
    content: str


class Node(TypedDict):
    """A message or an answer. An answer of a run has the run's id and its fields, from `run_id` on."""

    id: str
    parent_id: Annotated[str | None, Meta(description="The node that this one follows; null for a root.")]
    role: Role
    created: EpochSeconds
    text: str
    system: NotRequired[Annotated[str, Meta(description="Instructions sent with the message.")]]
    parts: NotRequired[
        Annotated[
            list[Any],
            Meta(
                description="Images and files of a message, as in a question.",
                extra_json_schema={
                    "items": {
                        "oneOf": [{"$ref": f"{REF}ImagePartIn"}, {"$ref": f"{REF}FilePartIn"}],
                        "discriminator": {"propertyName": "type"},
                    }
                },
            ),
        ]
    ]
    results: NotRequired[
        Annotated[list[HandedResult], Meta(description="The client's results of the calls of the answer before it.")]
    ]
    run_id: NotRequired[str]
    status: NotRequired[Literal[Status, "running"]]
    code: NotRequired[str | None]
    model: NotRequired[str]
    loop: NotRequired[LoopName]
    cost: NotRequired[Usd | None]
    cost_estimated: NotRequired[bool]
    steps: NotRequired[int]
    ended: NotRequired[EpochSeconds | None]
    simulated: NotRequired[bool]
    first_token_ms: NotRequired[Annotated[int | None, Meta(description="Milliseconds to the model's first part.")]]
    provider: NotRequired[str | None]
    column: NotRequired[Annotated[int | None, Meta(description="Position among answers compared side by side.")]]


class Conversation(ConversationHead):
    """A conversation with all its branches, in the order of their creation."""

    messages: list[Node]


class ClientCall(TypedDict):
    """A call in a history that a client sent."""

    id: str
    name: str
    arguments: Annotated[str, Meta(description="JSON text.")]


class ClientCalls(TypedDict, total=False):
    """The calls of an assistant message that a client sent, or the result of one of them."""

    calls: list[ClientCall]
    result_of: Annotated[str, Meta(description="The id of the call.")]
    name: str
    content: Annotated[str, Meta(description="The result as the client sent it.")]


class ExportedNode(Node):
    """A node with the calls that a client sent, or with the events of its run."""

    calls: NotRequired[list[ClientCalls]]
    events: NotRequired[list[RecordedEvent]]


class ExportedFile(TypedDict):
    """A version of a file on one of the branches."""

    number: Annotated[int, Meta(description="Counts the versions of all files of the conversation, from 1.")]
    node_id: str
    path: str
    media_type: str
    size: int
    author: Author
    created: EpochSeconds
    is_deleted: bool
    text: NotRequired[Annotated[str, Meta(description="The content; of the newest text files only, up to 20 MB.")]]


class ConversationExport(ConversationHead):
    """A conversation with all its branches, the events of its runs, and the versions of its files."""

    messages: list[ExportedNode]
    files: list[ExportedFile]


class FileVersion(TypedDict):
    """One version of a file, without its content."""

    path: str
    version: Annotated[int, Meta(description="Counts the versions of this path on the branch, from 1.")]
    media_type: str
    size: Annotated[int, Meta(description="Bytes; 0 for a deletion.")]
    author: Author
    created: EpochSeconds
    node_id: Annotated[str, Meta(description="The run that wrote it, or the node after which a person wrote it.")]
    is_deleted: Annotated[bool, Meta(description="The version deletes the file.")]


class File(FileVersion):
    """The newest version of a file."""

    versions: Annotated[int, Meta(description="How many versions of this path the branch has.")]


class FileList(TypedDict):
    """The files of a branch, by path, without deleted ones."""

    node_id: Annotated[str | None, Meta(description="The end of the branch; null for a conversation without messages.")]
    files: list[File]


class FileVersionList(TypedDict):
    """The versions of a file on a branch, newest first."""

    versions: list[FileVersion]


class DeletedConversation(Deleted):
    """The conversation is deleted, in the database files too."""

    saves_kept: Annotated[int, Meta(description="Saves of its runs that remain.")]
