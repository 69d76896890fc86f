"""The model catalogue: stored on disk, used without a network, and refreshed rarely."""

import os
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest
from signalbox.app import model_list
from signalbox.app.model_list import ModelList
from signalbox.app.openapi.response_types import Model
from signalbox.core.catalog import ModelFacts
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, UpstreamError
from signalbox.core.messages import JsonObject
from signalbox.services import catalog as module
from signalbox.services.catalog import ModelCatalog
from signalbox.wire.dialects import DIALECTS

OPENROUTER = DIALECTS["openrouter-chat"]

pytestmark = pytest.mark.anyio


class Lister:
    """An upstream that lists what the test sets, or fails."""

    def __init__(self, *ids: str) -> None:
        self.ids = list(ids)
        self.asked = 0
        self.error: UpstreamError | None = None

    async def __call__(self) -> list[JsonObject]:
        self.asked += 1
        if self.error:
            raise self.error
        return [{"id": one} for one in self.ids]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock; the test sets it."""
    now = [1_000_000.0]
    monkeypatch.setattr(module, "time", lambda: now[0])
    return now


def shown(entry: JsonObject) -> Model:
    """Read an entry of the upstream's list and return it as the API lists it."""
    facts = OPENROUTER.facts_of(entry)
    assert facts is not None
    return model_list.shown(facts)


async def refused(catalog: ModelCatalog, model: str) -> None:
    """Check that a model is rejected, with field and code."""
    with pytest.raises(RequestError) as told:
        await catalog.check(model)
    assert (told.value.code, told.value.field) == (Code.UNKNOWN_MODEL, "model")


async def test_a_known_model_costs_no_request(tmp_path: Path, clock: list[float]) -> None:
    """A model in the list causes no further request."""
    lister = Lister("a/b")
    catalog = ModelCatalog(lister, OPENROUTER, tmp_path / "models.json")
    for _ in range(5):
        await catalog.check("a/b")
    assert lister.asked == 1


async def test_an_unknown_model_refreshes_the_list_once(tmp_path: Path, clock: list[float]) -> None:
    """A new model is found, and a typo does not cause a request each time."""
    lister = Lister("a/b")
    catalog = ModelCatalog(lister, OPENROUTER, tmp_path / "models.json")
    await catalog.check("a/b")
    clock[0] += 61
    lister.ids.append("a/new")
    await catalog.check("a/new")
    assert lister.asked == 2
    for _ in range(5):
        await refused(catalog, "a/typo")
    assert lister.asked == 2
    clock[0] += 61
    await refused(catalog, "a/typo")
    assert lister.asked == 3


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("a/b", True),
        ("a/b:free", True),
        ("a/b:online", True),
        ("c/d:free", True),
        ("c/d", False),
        ("c/d:nitro", False),
        ("@preset/mine", True),
        ("a/b:", False),
        (":free", False),
        ("A/B", False),
        ("a", False),
    ],
)
async def test_variants(tmp_path: Path, clock: list[float], model: str, known: bool) -> None:
    """`:free` and similar suffixes are variants of a listed model; a model that is listed as :free is only that one."""
    catalog = ModelCatalog(Lister("a/b", "c/d:free"), OPENROUTER, tmp_path / "models.json")
    if known:
        await catalog.check(model)
    else:
        await refused(catalog, model)


async def test_without_a_catalogue_any_model_is_accepted(tmp_path: Path, clock: list[float]) -> None:
    """An upstream without /models, or without a network, rejects no question."""
    lister = Lister()
    lister.error = UpstreamError(Code.UPSTREAM_UNREACHABLE)
    catalog = ModelCatalog(lister, OPENROUTER, tmp_path / "models.json")
    await catalog.check("any/thing")
    await catalog.check("any/thing")
    assert lister.asked == 1
    assert await catalog.entries() == ([], 0.0)


async def test_the_last_list_works_offline(tmp_path: Path, clock: list[float]) -> None:
    """The next start uses the stored list if the upstream does not answer, however old it is."""
    path = tmp_path / "models.json"
    await ModelCatalog(Lister("a/b"), OPENROUTER, path).entries()
    clock[0] += 30 * 24 * 3600
    lister = Lister()
    lister.error = UpstreamError(Code.UPSTREAM_UNREACHABLE)
    catalog = ModelCatalog(lister, OPENROUTER, path)
    catalog.load()
    await catalog.check("a/b")
    await refused(catalog, "a/c")
    entries, fetched = await catalog.entries()
    assert ([entry.id for entry in entries], fetched) == (["a/b"], 1_000_000.0)


async def test_an_old_list_is_refreshed(tmp_path: Path, clock: list[float]) -> None:
    """After an hour the list is fetched again and stored."""
    lister = Lister("a/b")
    catalog = ModelCatalog(lister, OPENROUTER, tmp_path / "models.json")
    await catalog.entries()
    clock[0] += 3599
    await catalog.entries()
    assert lister.asked == 1
    clock[0] += 2
    lister.ids = ["a/c"]
    entries, fetched = await catalog.entries()
    assert ([entry.id for entry in entries], fetched) == (["a/c"], clock[0])
    assert orjson.loads((tmp_path / "models.json").read_bytes())["data"] == [{"id": "a/c"}]
    assert os.listdir(tmp_path) == ["models.json"]  # noqa: PTH208 - no half-written file is left


@pytest.mark.parametrize(
    "kept",
    [
        b"",
        b"{",
        b"[]",
        b"5",
        b'{"data": 5, "fetched": 1}',
        b'{"data": [{}], "fetched": 1}',
        b'{"data": [5], "fetched": 1}',
        b'{"fetched": "x", "data": []}',
    ],
)
async def test_a_broken_file_is_no_catalogue(tmp_path: Path, clock: list[float], kept: bytes) -> None:
    """A damaged file is ignored, and the list is fetched."""
    path = tmp_path / "models.json"
    path.write_bytes(kept)
    catalog = ModelCatalog(Lister("a/b"), OPENROUTER, path)
    catalog.load()
    await catalog.check("a/b")
    await refused(catalog, "a/c")


async def test_a_folder_that_cannot_be_written(tmp_path: Path, clock: list[float]) -> None:
    """Without a writable folder the catalogue is only in memory."""
    catalog = ModelCatalog(Lister("a/b"), OPENROUTER, tmp_path / "none" / "models.json")
    await catalog.check("a/b")
    assert len((await catalog.entries())[0]) == 1


async def test_the_simulator_accepts_all_models_of_a_family(tmp_path: Path, clock: list[float]) -> None:
    """With `by_family`, every model of a listed family is known, and no other."""
    catalog = ModelCatalog(Lister("a/sim"), OPENROUTER, tmp_path / "models.json", by_family=True)
    await catalog.check("a/anything")
    await refused(catalog, "b/anything")
    await refused(catalog, "a")


@pytest.mark.parametrize(
    ("entry", "badges"),
    [
        ({}, []),
        ({"supported_parameters": ["tools", "reasoning", "structured_outputs"]}, ["json", "reasoning", "tools"]),
        ({"supported_parameters": ["include_reasoning", "temperature"]}, ["reasoning"]),
        ({"architecture": {"input_modalities": ["text", "image"]}}, ["images"]),
        ({"supported_parameters": "tools", "architecture": 5}, []),
        ({"supported_parameters": [5, None], "architecture": {"input_modalities": None}}, []),
    ],
)
async def test_badges(entry: dict[str, Any], badges: list[str]) -> None:
    """Badges follow from the supported parameters; invalid entries have none."""
    told = shown({"id": "a/b", **entry})
    assert told["badges"] == badges
    assert (told["id"], told["name"]) == ("a/b", "a/b")


@pytest.mark.parametrize(
    ("entry", "most", "created"),
    [
        ({}, None, None),
        ({"top_provider": {"max_completion_tokens": 16384}, "created": 1700000000}, 16384, 1700000000),
        ({"top_provider": {"context_length": 5}}, None, None),
        ({"top_provider": [16384]}, None, None),
    ],
)
async def test_max_output_is_that_of_the_provider(entry: dict[str, Any], most: int | None, created: int | None) -> None:
    """The longest answer is a fact of the provider that serves the model."""
    told = shown({"id": "a/b", **entry})
    assert (told["max_output"], told["created"]) == (most, created)


async def test_the_list_is_encoded_once(tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each entry is encoded once per list, in the offload thread."""
    threads: list[str] = []
    shown = model_list.shown

    def seen(model: ModelFacts) -> Model:
        threads.append(threading.current_thread().name)
        return shown(model)

    monkeypatch.setattr(model_list, "shown", seen)
    lister = Lister("a/b", "c/d")
    models = ModelList(ModelCatalog(lister, OPENROUTER, tmp_path / "models.json"), None)
    for _ in range(3):
        listed = orjson.loads((await models.packed(hidden=True)).plain)
        assert ([one["id"] for one in listed["models"]], listed["fetched"]) == (["a/b", "c/d"], clock[0])
    assert threads == ["offload_0", "offload_0"]
    clock[0] += 3601
    lister.ids = ["e/f"]
    assert [one["id"] for one in orjson.loads((await models.packed(hidden=True)).plain)["models"]] == ["e/f"]


async def test_odd_entries_do_not_reach_the_page(tmp_path: Path, clock: list[float]) -> None:
    """A field of a wrong type is omitted, a long name is cut, and a model with a long id is not listed."""
    odd = {"id": "a/b", "name": {"x": 1}, "context_length": "long", "created": [], "pricing": 5, "top_provider": 5}
    told = shown(odd)
    assert (told["name"], told["context_length"], told["created"], told["pricing"]) == ("a/b", None, None, None)
    assert len(str(shown({"id": "a/b", "name": "x" * 10_000})["name"])) == 256
    catalog = ModelCatalog(Lister("a/b", "c/" + "d" * 10_000), OPENROUTER, tmp_path / "models.json")
    assert [entry.id for entry in (await catalog.entries())[0]] == ["a/b"]


async def test_control_characters_of_a_list_are_not_shown(tmp_path: Path) -> None:
    """An id with one is left out; in a name, they are replaced."""

    async def listed() -> list[JsonObject]:
        return [{"id": "acme/\x1b[2Jone"}, {"id": "acme/two", "name": "Two\x1b]0;title\x07"}]

    models, _ = await ModelCatalog(listed, OPENROUTER, tmp_path / "models.json").entries()
    assert [(model.id, model.name) for model in models] == [
        ("acme/two", "Two\N{REPLACEMENT CHARACTER}]0;title\N{REPLACEMENT CHARACTER}")
    ]
