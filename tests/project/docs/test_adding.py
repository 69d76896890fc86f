"""What docs/adding-a-provider.md and docs/adding-an-encoder.md show is run here, as it stands there."""

import re
import sys
from collections.abc import AsyncGenerator, Generator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from signalbox import profiles
from signalbox.app.access import Who
from signalbox.app.limits.open_streams import Streams
from signalbox.chat.calls.ids import mint
from signalbox.core.events import Content, Stamped
from signalbox.core.records import RunRecord
from signalbox.profiles.profile import Profile

from tests.project.docs.pages import ROOT, codes_in, page, rows
from tests.project.docs.snippets import block, module, patched

PROVIDER, ENCODER = page("adding-a-provider.md"), page("adding-an-encoder.md")
RUN_ID = "0" * 32


@pytest.fixture
def lantern(monkeypatch: pytest.MonkeyPatch) -> Generator[Profile, None, None]:
    """List the page's family."""
    profile: Profile = module("lantern", block(PROVIDER, "Lantern's models")).PROFILE
    by_vendor = {vendor: one for one in (*profiles.FAMILIES, profile) for vendor in one.vendors}
    monkeypatch.setattr(profiles, "FAMILIES", (*profiles.FAMILIES, profile))
    monkeypatch.setattr(profiles, "_BY_VENDOR", by_vendor)
    profiles.profile_for.cache_clear()
    yield profile
    profiles.profile_for.cache_clear()


@pytest.mark.anyio
async def test_the_family_passes_its_own_test(lantern: Profile) -> None:
    """The profile that is shown does what the test beside it says, and takes our ids."""
    test = module("test_lantern", block(PROVIDER, "Lantern's streamed calls"))
    test.test_an_id_finds_its_family()
    await test.test_steps_with_tools_are_whole("lantern-ai/wick-2", 2)
    await test.test_steps_with_tools_are_whole("openai/gpt-4o", 0)
    assert re.fullmatch(lantern.call_id, mint("run", 1))


@pytest.mark.anyio
async def test_the_test_fails_without_the_fact(lantern: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shown as failing before does fail."""
    test = module("test_lantern", block(PROVIDER, "Lantern's streamed calls"))
    monkeypatch.setattr(profiles, "_BY_VENDOR", {"lantern-ai": profiles.UNKNOWN})
    profiles.profile_for.cache_clear()
    with pytest.raises(AssertionError):
        await test.test_steps_with_tools_are_whole("lantern-ai/wick-2", 2)


def test_the_accent_is_one() -> None:
    """The simulator's accent that is shown can be made."""
    from signalbox.simulator.accents import ACCENTS

    code = block(PROVIDER, "lantern-ai:")
    accent = module("signalbox.simulator.accents.lantern", code, "signalbox.simulator.accents").ACCENT
    assert accent.family == "lantern-ai"
    assert type(accent) is type(ACCENTS["openai"])


def test_every_fact_is_in_the_table_with_where_it_is_read() -> None:
    """The table of facts is exactly the fields of Profile, and each file that is named reads its fact."""
    listed: set[str] = set()
    for facts, *_, read_in in rows(PROVIDER.section("Facts of a profile")):
        listed |= codes_in(facts)
        [path] = codes_in(read_in)
        text = (ROOT / path).read_text(encoding="utf-8")
        assert all(f".{fact}" in text for fact in codes_in(facts)), path
    assert listed == set(Profile.__dataclass_fields__) - {"family"}


def test_the_diff_applies() -> None:
    """The lines that it takes away stand in the file that it names."""
    [diff] = ENCODER.blocks("diff")
    path, text = patched(diff)
    assert path == "backend/signalbox/app/asgi/streaming.py"
    assert "        ping: bytes = PING,\n" in text


@pytest.fixture
def ndjson(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Put the page's encoder where the page puts it."""
    made = module("signalbox.encoders.ndjson", block(ENCODER, "The events as newline-delimited JSON"))
    monkeypatch.setitem(sys.modules, "signalbox.encoders.ndjson", made)
    return made


def test_the_encoder_passes_its_own_tests(ndjson: ModuleType) -> None:
    """The encoder that is shown does what the tests beside it say."""
    tests = module("test_ndjson", block(ENCODER, "Events as lines of JSON"))
    names = [name for name in vars(tests) if name.startswith("test_")]
    assert len(names) == 3
    for name in names:
        getattr(tests, name)()


@pytest.mark.anyio
async def test_the_route_answers_in_lines(ndjson: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The route that is shown, over the changed response that is shown, sends a run's events as lines."""
    _, text = patched(ENCODER.blocks("diff")[0])
    monkeypatch.setitem(sys.modules, "signalbox.app.asgi.streaming", module("signalbox.app.asgi.streaming", text))
    route = module("lines", block(ENCODER, "GET /api/runs/{run_id}/lines: a run's"))
    asked: list[int] = []

    async def watch(run_id: str, after: int) -> AsyncGenerator[list[Stamped], None]:
        asked.append(after)
        yield [Stamped(1, 5, Content("a")), Stamped(2, 6, Content("b"))]

    async def find(run_id: str) -> RunRecord:
        return RunRecord(run_id, "openai/sim", "v2", seq=2, owner="anna")

    streams = Streams(1)
    parts = SimpleNamespace(runs=SimpleNamespace(find=find, watch=watch), streams=streams)
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, str]:
        await never()
        return {}

    response = await route.follow_lines(RUN_ID, parts, Who("anna"), after=7)
    assert streams.open == 1
    await response({"type": "http"}, receive, send)
    headers = dict(sent[0]["headers"])
    assert (headers[b"content-type"], headers[b"x-run-id"]) == (b"application/x-ndjson", RUN_ID.encode())
    body = b"".join(message["body"] for message in sent[1:])
    assert body.splitlines() == [
        b'{"type":"content","content":"a","seq":1,"ts":5}',
        b'{"type":"content","content":"b","seq":2,"ts":6}',
    ]
    assert (asked, streams.open) == ([2], 0)


async def never() -> None:
    """Wait for what does not come: the client stays."""
    import asyncio

    await asyncio.Event().wait()


def test_what_is_shown_compiles() -> None:
    """Each Python block of both pages is Python, and its imports from the repository exist."""
    made_up = {"signalbox.encoders.ndjson"}
    for one in (PROVIDER, ENCODER):
        for code in one.blocks("python"):
            compile(code, one.path.name, "exec")
            for name in re.findall(r"^from ((?:signalbox|tests)[\w.]*) import", code, re.MULTILINE):
                path = name.replace(".", "/")
                found = [ROOT / base / f"{path}{end}" for base in ("backend", ".") for end in (".py", "/__init__.py")]
                assert name in made_up or any(file.is_file() for file in found), name
