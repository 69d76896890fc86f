"""The answers of the row `dialects` are the same in each upstream API."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from signalbox.core.parts import Finish, FinishReason, TextDelta, UsageReport
from signalbox.services.upstreams.file import read_upstreams
from signalbox.wire.dialects import DIALECTS

from tests.bench import dialects
from tests.bench.dialect_frames import PATHS, dialect_of, dialect_script
from tests.bench.goals import GOALS
from tests.bench.loads import Load
from tests.bench.outcome import Outcome, Percentiles
from tests.bench.rig import Rig

_CHUNK = re.compile(rb"([0-9a-f]+)\r\n")
EVENTS = 40


def unchunked(body: bytes) -> bytes:
    """Return the content of a chunked body."""
    found, at = b"", 0
    while size := _CHUNK.match(body, at):
        length = int(size[1], 16)
        found += body[size.end() : size.end() + length]
        at = size.end() + length + 2
    assert at == len(body)
    return found


class EmptyRig:
    """A rig without processes, on which each stream costs a second. `lost`: events that do not arrive."""

    def __init__(self, folder: Path, lost: int = 0) -> None:
        self.folder, self.lost, self.spent = folder, lost, 0.0
        self.questions: list[str] = []

    def python_upstream(self) -> Any:
        return SimpleNamespace(port=9)

    def server(self, name: str, **settings: Any) -> Any:
        assert read_upstreams(Path(settings["SIGNALBOX_UPSTREAMS"])).named("gemini") is not None
        return SimpleNamespace(cpu=lambda: self.spent)

    def end(self, child: Any) -> None:
        """Do nothing."""

    def run_client(self, child: Any, load: Load, body: dict[str, Any], streams: int, path: str) -> Outcome:
        self.spent += streams
        self.questions.append(body["model"])
        none = Percentiles(0.1, 0.2)
        return Outcome(streams, 0, streams * load.events - self.lost, 1.0, none, none, none)


def test_every_dialect_has_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each upstream API but OpenRouter's, with the goal of 1.3 in both loads."""
    monkeypatch.setattr(dialects, "SETTLE", 0)
    assert {*PATHS} == {*DIALECTS}
    rig = EmptyRig(tmp_path)
    figures = dialects.dialect_figures(cast("Rig", rig), 2, quick=True)
    assert {figure.name for figure in figures} == {name for row, name in GOALS if row == "dialects"}
    assert [figure.values for figure in figures] == [(1.0, 1.0)] * 8
    assert {goal.reach for (row, _), goal in GOALS.items() if row == "dialects"} == {1.3}
    assert {question.partition("@")[0] for question in rig.questions} == {*DIALECTS}


def test_lost_events_are_an_error(tmp_path: Path) -> None:
    """A dialect that decodes only a part of the answer would look cheap."""
    with pytest.raises(RuntimeError, match="19999 events arrived"):
        dialects.dialect_figures(cast("Rig", EmptyRig(tmp_path, lost=1)), 1, quick=True)


@pytest.mark.parametrize("name", DIALECTS)
def test_the_text_is_the_same(name: str) -> None:
    """The same pieces of text, a finish, a usage and an end, whatever the API."""
    script = dialect_script(name, f"paced-50-{EVENTS}")
    assert (len(script.deltas), script.period) == (EVENTS, 0.02)
    decoder = DIALECTS[name].stream_decoder()
    parts = decoder.feed(unchunked(script.encode(0, EVENTS, 7) + script.ending))
    parts += decoder.close()
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == "@0000000000000007@ " * EVENTS
    assert [part.reason for part in parts if isinstance(part, Finish)][-1:] == [FinishReason.STOP]
    assert [part.usage.output for part in parts if isinstance(part, UsageReport)][-1:] == [
        200 if name != "gemini" else 40
    ]


@pytest.mark.parametrize("name", DIALECTS)
def test_a_request_names_its_dialect(name: str) -> None:
    """By its path."""
    path = f"POST {PATHS[name][0]}{DIALECTS[name].path_of('fast-200', stream=True)} HTTP/1.1"
    assert dialect_of(path.encode()) == name
