"""Each assertion of a set, once with an answer that meets it and once with one that does not."""

import asyncio
from typing import Any

import pytest
from msgspec import UNSET, structs
from signalbox.encoders.v1_whole import ChatAnswer
from signalbox.evals.checks import Files, check_answer
from signalbox.evals.expectations import Expectations
from signalbox.evals.results import Check

from tests.unit.evals.answers import answer, call

SEARCH, SUM = call("search_web", '{"query": "tides", "limit": 5}'), call("calculate", '{"expression": "17 * 23"}')
FAILED, WARNED = call("read_url", "{}", "No page."), [{"message": "Six searches are allowed.", "code": "SEARCH_LIMIT"}]
PAGE = Files(frozenset({"index.html", "style.css"}), {"index.html": "<h1>Tides</h1>"})


def checked(expect: dict[str, Any], given: ChatAnswer, files: Files | None = None) -> list[Check]:
    """Check an answer, and leave out the check of the status that every case has."""
    checks = asyncio.run(check_answer(Expectations.model_validate(expect), given, files or Files()))
    assert checks[0].name.startswith("status is ")
    return checks[1:]


TEXTS: list[tuple[dict[str, Any], str, str]] = [
    ({"contains": "391"}, "It is 391.", "It is 392."),
    ({"contains": ["a", "b"]}, "ab", "a"),
    ({"not_contains": "sorry"}, "Gladly.", "I am sorry."),
    ({"matches": r"^\d+$"}, "391", "no number"),
    ({"matches": r"(?s)a.b"}, "a\nb", "ab"),
    ({"equals": "Yes."}, " Yes.\n", "Yes"),
    ({"json_schema": {"type": "object", "required": ["a"]}}, '{"a": 1}', '{"b": 1}'),
    ({"json_schema": {"type": "object"}}, '```json\n{"a": 1}\n```', "no JSON"),
    ({"json_schema": {"type": "array", "items": {"type": "integer"}}}, "[1, 2]", '[1, "2"]'),
]


@pytest.mark.parametrize(("expect", "good", "bad"), TEXTS, ids=[str(one[0])[:40] for one in TEXTS])
def test_text(expect: dict[str, Any], good: str, bad: str) -> None:
    """The whole text of the answer counts."""
    assert all(check.ok for check in checked(expect, answer(good)))
    failed = [check for check in checked(expect, answer(bad)) if not check.ok]
    assert failed
    assert all(check.detail for check in failed)


TOOLS: list[tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]] = [
    ({"called": "calculate"}, [SEARCH, SUM], [SEARCH]),
    ({"called": ["calculate", "search_web"]}, [SEARCH, SUM], [SUM]),
    ({"called": ["calculate", "calculate"]}, [SUM, SEARCH, SUM], [SUM, SEARCH]),
    ({"not_called": "search_web"}, [SUM], [SEARCH, SUM]),
    ({"only": ["calculate"]}, [SUM, SUM], [SUM, SEARCH]),
    ({"exactly": []}, [], [SUM]),
    ({"exactly": ["calculate", "search_web"]}, [SEARCH, SUM], [SEARCH, SUM, SUM]),
    ({"order": ["search_web", "calculate"]}, [SEARCH, FAILED, SUM], [SUM, SEARCH]),
    ({"all_succeed": True}, [SEARCH, SUM], [SEARCH, FAILED]),
    ({"arguments": [{"tool": "calculate", "contain": {"expression": "17"}}]}, [SUM], [call("calculate")]),
    ({"arguments": [{"tool": "search_web", "contain": {"limit": 5}}]}, [SUM, SEARCH], [SUM]),
    ({"arguments": [{"tool": "search_web", "equal": {"limit": 5.0, "query": "tides"}}]}, [SEARCH], [SUM]),
    ({"arguments": [{"tool": "calculate", "equal": {"expression": "17 * 23"}}]}, [SUM], [SEARCH]),
    ({"arguments": [{"tool": "calculate", "equal": {}}]}, [call("calculate")], [call("calculate", "no JSON")]),
    ({"arguments": [{"tool": "f", "contain": {"a": True}}]}, [call("f", '{"a": true}')], [call("f", '{"a": 1}')]),
    ({"arguments": [{"tool": "f", "contain": {"a": {"b": "x"}}}]}, [call("f", '{"a": {"b": "xy"}}')], [SUM]),
    ({"arguments": [{"tool": "f", "contain": {"a": ["x"]}}]}, [call("f", '{"a":["x"]}')], [call("f", '{"a":["xy"]}')]),
]  # fmt: skip


@pytest.mark.parametrize(("expect", "good", "bad"), TOOLS, ids=[str(one[0])[:60] for one in TOOLS])
def test_tools(expect: dict[str, Any], good: list[dict[str, Any]], bad: list[dict[str, Any]]) -> None:
    """Names, numbers and order of calls, and the arguments of at least one."""
    assert all(check.ok for check in checked({"tools": expect}, answer(calls=good)))
    failed = [check for check in checked({"tools": expect}, answer(calls=bad)) if not check.ok]
    assert failed
    assert all(check.detail for check in failed)


FILES: list[tuple[dict[str, Any], Files]] = [
    ({"path": "index.html"}, Files(frozenset({"other.html"}))),
    ({"path": "script.js", "exists": False}, Files(frozenset({"script.js"}))),
    ({"path": "index.html", "contains": "<h1>"}, Files(frozenset({"index.html"}), {"index.html": "<h2>"})),
    ({"path": "index.html", "not_contains": "<script"}, Files(frozenset({"index.html"}), {"index.html": "<script>"})),
    ({"path": "index.html", "matches": "T.des"}, Files(frozenset({"index.html"}), {"index.html": "Floods"})),
]


@pytest.mark.parametrize(("expect", "bad"), FILES, ids=[str(one[0])[:60] for one in FILES])
def test_files(expect: dict[str, Any], bad: Files) -> None:
    """Existence and content of the files of the conversation."""
    assert all(check.ok for check in checked({"files": [expect]}, answer(), PAGE))
    assert not all(check.ok for check in checked({"files": [expect]}, answer(), bad))


LIMITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"steps": 1}, {"steps": 2}),
    ({"max_steps": 1}, {"steps": 2}),
    ({"max_cost": 0.001}, {"cost": 0.0011}),
    ({"max_seconds": 0.05}, {"duration_ms": 51}),
    ({"no_warnings": True}, {"warnings": WARNED}),
    ({"no_warnings": ["SEARCH_LIMIT"]}, {"warnings": WARNED}),
]


@pytest.mark.parametrize(("expect", "bad"), LIMITS, ids=[str(one[0]) for one in LIMITS])
def test_limits(expect: dict[str, Any], bad: dict[str, Any]) -> None:
    """Steps, cost, time and warnings."""
    assert all(check.ok for check in checked(expect, answer()))
    assert not all(check.ok for check in checked(expect, answer(**bad)))


def test_a_cost_that_is_unknown_is_not_low() -> None:
    """A check must not pass because a server reports nothing."""
    (check,) = checked({"max_cost": 1.0}, structs.replace(answer(), cost=UNSET))
    assert (check.ok, check.detail) == (False, "the cost is unknown")


def test_expected_warnings() -> None:
    """A warning can be what a case is about."""
    assert checked({"warnings": "SEARCH_LIMIT"}, answer(warnings=WARNED))[0].ok
    assert not checked({"warnings": "SEARCH_LIMIT"}, answer())[0].ok


def test_the_status_is_complete_unless_another_is_expected() -> None:
    """A run that failed does not pass because its text fits."""
    failed = answer(status="error", code="RATE_LIMITED", error="Too many requests.")
    first = asyncio.run(check_answer(Expectations(), failed, Files()))[0]
    assert (first.ok, first.detail) == (False, "the status is error: Too many requests.")
    expect = Expectations.model_validate({"status": "error", "code": "RATE_LIMITED"})
    assert [check.ok for check in asyncio.run(check_answer(expect, failed, Files()))] == [True, True]
    expect = Expectations.model_validate({"status": "error", "code": "UPSTREAM_ERROR"})
    assert [check.ok for check in asyncio.run(check_answer(expect, failed, Files()))] == [True, False]
