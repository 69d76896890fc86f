"""A stream that is cut at any byte and resumed: each event once, also for a client that stores ids early."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.running_app import RunningApp
from tests.support.stream_reader import parse_stream


@dataclass
class Client:
    """Reads lines; an event counts at its blank line. With `early`, its id counts as soon as its line is complete."""

    early: bool
    last_id: str = ""
    events: list[Any] = field(default_factory=list[Any])
    _line: bytearray = field(default_factory=bytearray)
    _data: str = ""
    _id: str = ""

    def feed(self, received: bytes) -> None:
        """Read data in pieces of any size; an incomplete line or frame does not count."""
        for byte in received:
            if byte != ord("\n"):
                self._line.append(byte)
                continue
            self._take_line(self._line.decode())
            self._line.clear()

    def _take_line(self, line: str) -> None:
        if line.startswith("data: "):
            self._data = line[6:]
        elif line.startswith("id: "):
            self._id = line[4:]
            self.last_id = self._id if self.early else self.last_id
        elif not line and self._data:
            self.events.append(json.loads(self._data))
            self.last_id, self._data = self._id, ""


@pytest.fixture(scope="module")
def run(app: RunningApp) -> tuple[bytes, dict[str, bytes]]:
    """Return a run's stream, and the response to a resume after each of its ids."""
    heard = app.ask("What is 17 * 23? Then search for the tool loop", tools=["calculate", "search_web"])
    path = f"/api/runs/{heard.events[0]['run_id']}/events"
    rest = {name: app.client.get(path, headers={"last-event-id": name}).content for name in heard.ids}
    return heard.raw, {**rest, "": heard.raw}


def events_in(answer: bytes) -> list[Any]:
    """Read a response on a new connection, without leftovers of the previous one."""
    client = Client(early=False)
    client.feed(answer)
    return client.events


def lost_or_doubled(stream: bytes, rest: dict[str, bytes], *, early: bool) -> list[int]:
    """Return the cuts after which a resuming client has not received each event once.

    Each response is parsed once: parsing the prefix of each cut again would take quadratic time.
    """
    whole = parse_stream(stream).events
    start_app = {name: events_in(answer) for name, answer in rest.items()}
    client = Client(early)
    wrong: list[int] = []
    for cut in range(len(stream)):
        if client.events + start_app[client.last_id] != whole:
            wrong.append(cut)
        client.feed(stream[cut : cut + 1])
    return wrong


def test_a_client_that_waits_for_the_frame(run: tuple[bytes, dict[str, bytes]]) -> None:
    """A client that follows the standard loses and repeats nothing, wherever the cut is."""
    assert lost_or_doubled(*run, early=False) == []


def test_a_client_that_notes_ids_early(run: tuple[bytes, dict[str, bytes]]) -> None:
    """The id follows its data, so a cut in the data or the id is safe.

    One byte of each frame is not, whatever the order: the id's line is complete, and the frame is not.
    """
    stream, rest = run
    ends = [at for at in range(1, len(stream)) if stream[at - 1 : at + 1] == b"\n\n"]
    assert len(ends) == len(parse_stream(stream).events)
    assert lost_or_doubled(stream, rest, early=True) == ends
