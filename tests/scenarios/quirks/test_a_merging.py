"""A1-A5, A15-A19: which pieces of a streamed call belong together, and the names of calls; through the whole app."""

import re

import pytest

from tests.scenarios.quirks.assertions import ASKED, CLOCK, SEARCH, SEARCHES, ran, sent_back
from tests.scenarios.quirks.sim_runs import Asker, call, calling, calls, result, user
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import call_chunk, calls_then, chunk, says

FAMILIES = pytest.mark.parametrize("family", ["openai", "google", "qwen"])
ALL = ["openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen"]
UNIVERSAL = re.compile(r"[A-Za-z0-9]{9}")
# The id format of each provider; the others accept these too.
FORMS = {"mistralai": r"[A-Za-z0-9]{9}", "anthropic": r"[A-Za-z0-9_-]{1,64}", "openai": r".{1,40}"}


@FAMILIES
@pytest.mark.parametrize("shape", ["a01", "a01-fragmented", "a01-by-turns"])
def test_a01_two_calls_at_one_index(ask_sim: Asker, family: str, shape: str) -> None:
    """Calls at one index are separated by their ids: complete, in pieces, and interleaved."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED)
    ran(observed, SEARCH, CLOCK)
    assert "In Tokyo it is" in observed.heard.text
    assert "what I found about **tool loop Signalbox work**" in observed.heard.text


@pytest.mark.parametrize("shape", ["a01-same-name", "a01-no-id"])
def test_a01_the_same_tool_twice_at_one_index(ask_sim: Asker, shape: str) -> None:
    """Two searches at one index are two calls, even if only a complete first one shows it."""
    ran(ask_sim(f"openai/sim-quirk-{shape}", ASKED), *SEARCHES)


def test_a01_calls_of_three_chunks_by_one_gateway(start_app: StartApp) -> None:
    """Calls that are renumbered in every chunk are three calls."""
    made = [call_chunk("bell", f'{{"n":{at}}}', call_id=f"call_{at}") for at in range(3)]
    app, upstream = start_app(calls_then(*made), says("Done."), extra_tools=[make_tool("bell")])
    heard = app.ask(tools=["bell"])
    assert heard.arguments == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert heard.result_codes() == [None, None, None]
    assert sent_back(upstream.asked[-1].body) == [("bell", {"n": at}) for at in range(3)]


def test_a01_an_empty_call_and_another(start_app: StartApp) -> None:
    """Without ids, a name and arguments after a complete call begin the next call."""
    made = [
        chunk({"tool_calls": [{"index": 0, "function": {"name": "bell", "arguments": arguments}}]})
        for arguments in ("{}", '{"n":1}')
    ]
    app, _ = start_app(calls_then(*made), says("Done."), extra_tools=[make_tool("bell")])
    assert app.ask(tools=["bell"]).arguments == [{}, {"n": 1}]


@FAMILIES
@pytest.mark.parametrize("shape", ["a02", "a02-null", "a02-late"])
def test_a02_calls_without_an_index(ask_sim: Asker, family: str, shape: str) -> None:
    """A missing or null index is not 0, and a later index belongs to the open call."""
    ran(ask_sim(f"{family}/sim-quirk-{shape}", ASKED), SEARCH, CLOCK)


@pytest.mark.parametrize("later", [None, 0], ids=["by place", "late"])
def test_a02_pieces_of_two_calls(start_app: StartApp, later: int | None) -> None:
    """Two calls begin without an index; their pieces are assigned by list position or by a later index."""
    names = [{"id": f"c{at}", "function": {"name": "bell", "arguments": ""}} for at in range(2)]
    pieces = [{"function": {"arguments": f'{{"n":{at}}}'}} for at in range(2)]
    if later is not None:
        pieces = [{**piece, "index": at} for at, piece in enumerate(pieces)]
    script = calls_then(chunk({"tool_calls": names}), chunk({"tool_calls": pieces}))
    app, _ = start_app(script, says("Done."), extra_tools=[make_tool("bell")])
    heard = app.ask(tools=["bell"])
    assert heard.arguments == [{"n": 0}, {"n": 1}]
    assert heard.result_codes() == [None, None]


@FAMILIES
def test_a03_two_entries_of_one_call_in_one_chunk(ask_sim: Asker, family: str) -> None:
    """Two entries of one call in the first chunk are merged."""
    ran(ask_sim(f"{family}/sim-quirk-a03", ASKED), SEARCH)


@pytest.mark.parametrize("shape", ["int", "null", "resent", "late", "none"])
def test_a04_ids_of_any_kind(ask_sim: Asker, shape: str) -> None:
    """Numbers, null, missing, late or repeated ids: two calls with unique string ids."""
    observed = ask_sim(f"openai/sim-quirk-a04-{shape}", ASKED)
    ran(observed, SEARCH, CLOCK)
    ids = [made["id"] for message in calling(observed.last) for made in message["tool_calls"]]
    assert all(isinstance(name, str) and name for name in ids)
    if shape in ("resent", "late"):
        assert all(re.fullmatch(r"call_\w{24}", name) for name in ids), ids
    if shape == "int":
        assert ids == ["7000", "7001"]


@pytest.mark.parametrize("family", ["openai", "moonshotai"])
@pytest.mark.parametrize("shape", ["resent", "blank", "nonstring", "split"])
def test_a05_names_that_come_again_or_in_pieces(ask_sim: Asker, family: str, shape: str) -> None:
    """A name that is repeated, cleared, not a string or split is matched to an offered tool."""
    ran(ask_sim(f"{family}/sim-quirk-a05-{shape}", ASKED), SEARCH, CLOCK)


@pytest.mark.parametrize(
    ("pieces", "meant"),
    [
        (("search", "_news"), "search_news"),
        (("search", "search"), "search"),
        (("search_news", "search_news"), "search_news"),
        (("search_news", "news"), "search_news"),
        (("search", ""), "search"),
    ],
)
def test_a05_names_that_begin_alike(start_app: StartApp, pieces: tuple[str, str], meant: str) -> None:
    """If tool names are prefixes of each other, the offered tools decide what the pieces mean."""
    named = [
        chunk({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": name, "arguments": ""}}]})
        for name in pieces
    ]
    arguments = chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"q":"x"}'}}]})
    tools = [make_tool("search"), make_tool("search_news")]
    app, upstream = start_app(calls_then(*named, arguments), says("Done."), extra_tools=tools)
    heard = app.ask(tools=["search", "search_news"])
    assert ([made["name"] for made in heard.calls], heard.arguments) == ([meant], [{"q": "x"}])
    assert heard.result_codes() == [None]
    assert sent_back(upstream.asked[-1].body) == [(meant, {"q": "x"})]


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "moonshotai"])
@pytest.mark.parametrize(("shape", "made"), [("a15", SEARCHES), ("a15-step", (SEARCH, CLOCK))])
def test_a15_an_id_that_is_used_again(ask_sim: Asker, family: str, shape: str, made: tuple[object, ...]) -> None:
    """A repeated upstream id, in one step or two, gives calls with different ids, also in the history."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED)
    ran(observed, *made)  # type: ignore[arg-type]
    ids = [announced["id"] for announced in observed.heard.calls]
    assert len(set(ids)) == 2
    assert all(UNIVERSAL.fullmatch(name) for name in ids)


@pytest.mark.parametrize("family", ["openai", "anthropic", "mistralai"])
@pytest.mark.parametrize("shape", ["long", "dots"])
def test_a16_ids_that_hosts_refuse(ask_sim: Asker, family: str, shape: str) -> None:
    """Ids of sixty characters, or with dots and colons, are sent back in the provider's format."""
    observed = ask_sim(f"{family}/sim-quirk-a16-{shape}", ASKED)
    ran(observed, SEARCH, CLOCK)
    ids = [made["id"] for message in calling(observed.last) for made in message["tool_calls"]]
    assert all(re.fullmatch(FORMS[family], name) for name in ids), ids


@pytest.mark.parametrize("family", ALL)
def test_a16_a_history_passes_every_host(ask_sim: Asker, family: str) -> None:
    """Every family accepts a history with ids of every kind, with the same ids in each request."""
    ids = ["functions.search_web:0", "call_" + "x" * 60, "tool:a/b", "toolu_1", "call_1|fc_2"]
    made = [call(name, arguments=f'{{"query":"{at}"}}') for at, name in enumerate(ids)]
    told_before = [user("Look that up."), calls(*made), *(result(name) for name in ids), user("Hello!")]
    first, second = (ask_sim(f"{family}/sim", messages=told_before).requests[0] for _ in range(2))
    assert [arguments["query"] for _, arguments in sent_back(first)] == ["0", "1", "2", "3", "4"]
    assert first["messages"][-6:] == second["messages"][-6:]
    going = [sent["id"] for sent in calling(first)[0]["tool_calls"]]
    assert all(re.fullmatch(FORMS.get(family, r".{1,64}"), name) for name in going), going


@FAMILIES
@pytest.mark.parametrize("shape", ["a17", "a17-id"])
def test_a17_arguments_without_a_name(ask_sim: Asker, family: str, shape: str) -> None:
    """Arguments after a name without arguments belong to it, whatever their index and id."""
    ran(ask_sim(f"{family}/sim-quirk-{shape}", ASKED), SEARCH)


@FAMILIES
def test_a17_a_call_that_never_gets_a_name(ask_sim: Asker, family: str) -> None:
    """A call without a name is dropped: not announced, executed or sent back."""
    observed = ask_sim(f"{family}/sim-quirk-a17-nameless", ASKED)
    ran(observed, SEARCH)
    assert b"not requested" not in observed.heard.raw
    assert "not requested" not in str(observed.last)


@FAMILIES
def test_a18_braces_inside_strings(ask_sim: Asker, family: str) -> None:
    """Braces in separate pieces, most inside a string: the call is complete once, at its real end."""
    ran(
        ask_sim(f"{family}/sim-quirk-a18", ASKED),
        ("search_web", {"query": 'tool loop Signalbox work "}{" {"a": "}"}'}),
    )


@FAMILIES
def test_a19_the_legacy_function_call(ask_sim: Asker, family: str) -> None:
    """The deprecated `function_call` is one call."""
    ran(ask_sim(f"{family}/sim-quirk-a19", ASKED), SEARCH)
