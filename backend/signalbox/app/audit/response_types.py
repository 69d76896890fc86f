"""The JSON of responses about the audit log, as types."""

from typing import Annotated, Any, TypedDict

from msgspec import Meta

from signalbox.runs.trace import EpochSeconds


class AuditEntry(TypedDict):
    """A change."""

    id: int
    at: EpochSeconds
    actor: Annotated[
        str,
        Meta(
            description="`operator` for the operator token, `guard` for the rollout, `SIGHUP`, `command line`, or the "
            "name of a person who is signed in."
        ),
    ]
    action: str
    details: Annotated[
        dict[str, Any],
        Meta(description="What was changed; of a rollout also the figures. `actor_id` is the owner of a person."),
    ]


class AuditLog(TypedDict):
    """A page of the audit log, newest first."""

    entries: list[AuditEntry]
    next: Annotated[int | None, Meta(description="The value of `before` for the next page; null on the last page.")]
