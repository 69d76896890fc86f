"""Threads of clients that name their conversations and messages themselves."""

import re
from typing import Annotated
from uuid import UUID, uuid5

from pydantic import StringConstraints

from signalbox.intakes.v1_schema import NAME

_THREADS = UUID("5a7d0f0e-6c1b-4b53-9f0e-0d6a51c1b0a1")
# Ids that Signalbox makes: of runs, and of messages that it stores.
_OURS = re.compile(r"[0-9a-f]{32}")

LONGEST_THREAD_ID = 200
# Without control characters, which a URL path cannot contain.
ThreadId = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_THREAD_ID, pattern=r"^[^\x00-\x1f]+$")]


def conversation_id_of(thread_id: str) -> str:
    """Return the id of a thread's conversation: the same text, or if that cannot be an id, one derived from it."""
    return thread_id if re.fullmatch(NAME, thread_id) else uuid5(_THREADS, thread_id).hex


def is_ours(message_id: str) -> bool:
    """Return whether Signalbox makes ids like this one; any other id was made by a client."""
    return _OURS.fullmatch(message_id) is not None


def node_of(message_id: str) -> str:
    """Return the stored message or run of a message's id; further messages of one have a number behind a dot."""
    return message_id.partition(".")[0]
