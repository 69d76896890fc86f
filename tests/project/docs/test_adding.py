"""The code of docs/adding-a-provider.md works as shown."""

import re
from collections.abc import Generator

import pytest
from signalbox import profiles
from signalbox.chat.calls.ids import make_call_id
from signalbox.profiles.profile import Profile

from tests.project.docs.pages import ROOT, codes_in, page, rows
from tests.project.docs.snippets import block, module

PROVIDER = page("adding-a-provider.md")


@pytest.fixture
def lantern(monkeypatch: pytest.MonkeyPatch) -> Generator[Profile, None, None]:
    """Add the page's family to the profiles."""
    profile: Profile = module("lantern", block(PROVIDER, "Lantern's models")).PROFILE
    by_vendor = {vendor: one for one in (*profiles.FAMILIES, profile) for vendor in one.vendors}
    monkeypatch.setattr(profiles, "FAMILIES", (*profiles.FAMILIES, profile))
    monkeypatch.setattr(profiles, "_BY_VENDOR", by_vendor)
    profiles.profile_for.cache_clear()
    yield profile
    profiles.profile_for.cache_clear()


@pytest.mark.anyio
async def test_the_family_passes_its_own_test(lantern: Profile) -> None:
    """The profile passes the page's test and accepts the ids."""
    test = module("test_lantern", block(PROVIDER, "Lantern's streamed calls"))
    test.test_an_id_finds_its_family()
    await test.test_steps_with_tools_are_whole("lantern-ai/wick-2", 2)
    await test.test_steps_with_tools_are_whole("openai/gpt-4o", 0)
    assert re.fullmatch(lantern.call_id, make_call_id("run", 1))


@pytest.mark.anyio
async def test_the_test_fails_without_the_fact(lantern: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test that the page shows as failing fails."""
    test = module("test_lantern", block(PROVIDER, "Lantern's streamed calls"))
    monkeypatch.setattr(profiles, "_BY_VENDOR", {"lantern-ai": profiles.UNKNOWN})
    profiles.profile_for.cache_clear()
    with pytest.raises(AssertionError):
        await test.test_steps_with_tools_are_whole("lantern-ai/wick-2", 2)


def test_the_family_of_the_simulator() -> None:
    """The family that the page adds to the simulator is one."""
    from signalbox.simulator.families import FAMILIES

    code = block(PROVIDER, "lantern-ai:")
    family = module("signalbox.simulator.families.lantern", code, "signalbox.simulator.families").FAMILY
    assert family.name == "lantern-ai"
    assert type(family) is type(FAMILIES["openai"])


def test_every_fact_is_in_the_table_with_where_it_is_read() -> None:
    """The table lists exactly the fields of Profile, and each named file reads its field."""
    listed: set[str] = set()
    for facts, *_, read_in in rows(PROVIDER.section("Facts of a profile")):
        listed |= codes_in(facts)
        [path] = codes_in(read_in)
        text = (ROOT / path).read_text(encoding="utf-8")
        assert all(f".{fact}" in text for fact in codes_in(facts)), path
    assert listed == set(Profile.__dataclass_fields__) - {"family"}


def test_what_is_shown_compiles() -> None:
    """Each Python block compiles, and its imports from the repository exist."""
    for code in PROVIDER.blocks("python"):
        compile(code, PROVIDER.path.name, "exec")
        for name in re.findall(r"^from ((?:signalbox|tests)[\w.]*) import", code, re.MULTILINE):
            path = name.replace(".", "/")
            found = [ROOT / base / f"{path}{end}" for base in ("backend", ".") for end in (".py", "/__init__.py")]
            assert any(file.is_file() for file in found), name
