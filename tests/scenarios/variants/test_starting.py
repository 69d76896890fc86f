"""POST /api/chat/variants: one question is stored once, and each variant is a run that answers it."""

import json
from typing import Any

import pytest

from tests.scenarios.limits.conftest import Among
from tests.scenarios.limits.conftest import among as among  # noqa: PLC0414 - a fixture
from tests.scenarios.variants.variants_client import (
    CONVERSATION,
    FOUR,
    answer_of,
    body_of,
    by_model,
    nodes,
    post,
    run_ids,
    start,
    statuses,
)
from tests.support.fixtures import StartApp
from tests.support.running_app import error_of
from tests.support.scripted_upstream import Exchange, call_chunk, calls_then, chunk, holds, says

CATALOGUE = b'{"data":[{"id":"openai/a"},{"id":"openai/b"},{"id":"openai/sim"}]}'


async def lists(exchange: Exchange) -> None:
    """Send the catalogue."""
    await exchange.whole(200, CATALOGUE)


def test_sc23_one_question_and_a_run_per_variant(start_app: StartApp) -> None:
    """The runs answer the same stored message, in the order of the request, with the parameters of each variant."""
    app, upstream = start_app(by_model({model: says(model) for model in FOUR}, says("The request's model.")))
    variants: list[dict[str, Any]] = [
        {"model": "openai/a", "temperature": 0.25},
        {"model": "openai/b", "reasoning": {"effort": "high"}},
        {},
    ]
    started = start(app, variants=variants, temperature=1.5, reasoning_effort="low", system="Be brief.")
    assert started["conversation_id"] == CONVERSATION
    assert [(one["number"], one["model"]) for one in started["variants"]] == [
        (1, "openai/a"),
        (2, "openai/b"),
        (3, "openai/sim"),
    ]
    heard = [answer_of(app, run_id).text for run_id in run_ids(started)]
    assert heard == ["openai/a", "openai/b", "The request's model."]
    asked = {one.body["model"]: one.body for one in upstream.asked}
    assert {name: one["temperature"] for name, one in asked.items()} == {
        "openai/a": 0.25,
        "openai/b": 1.5,
        "openai/sim": 1.5,
    }
    assert [asked[name]["reasoning"]["effort"] for name in ("openai/a", "openai/b", "openai/sim")] == [
        "low",
        "high",
        "low",
    ]
    question, *answers = nodes(app)
    assert (question["id"], question["text"], question["system"]) == (started["parent_id"], "Draw a page.", "Be brief.")
    assert [(node["run_id"], node["parent_id"]) for node in answers] == [
        (run_id, question["id"]) for run_id in run_ids(started)
    ]


def test_sc23_they_run_at_the_same_time(start_app: StartApp) -> None:
    """All four are asked while none has ended, on either loop."""
    for is_v2 in (True, False):
        app, upstream = start_app(holds, settings={"tool_loop_v2": is_v2})
        started = start(app, *FOUR)
        assert upstream.wait_until(lambda: len(upstream.asked) == len(FOUR))  # noqa: B023 - called here
        assert set(statuses(app).values()) == {"running"}
        for run_id in run_ids(started):
            app.client.post(f"/api/runs/{run_id}/stop")


@pytest.mark.parametrize("stream", [None, False, True])
def test_they_have_previews_whatever_stream_is(start_app: StartApp, stream: bool | None) -> None:
    """Variants are read as streams, so they show a file while the model writes it."""
    file = json.dumps({"path": "index.html", "content": "<h1>Hello</h1>"})
    app, _ = start_app(
        calls_then(
            call_chunk("create_file", file[:45]),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": file[45:]}}]}),
        ),
        says("Done."),
    )
    started = start(app, "openai/a", tools=["create_file"], previews=True, stream=stream)
    heard = answer_of(app, run_ids(started)[0])
    shown = "".join(event["text"] for event in heard.of("preview") if event.get("key", "/content") == "/content")
    assert shown.endswith("<h1>Hello</h1>")
    assert heard.result_codes() == [None]


def test_an_answer_that_is_there_is_number_one(start_app: StartApp) -> None:
    """Variants of a question that has an answer are further answers to it."""
    app, _ = start_app(says("Hello."))
    first = app.ask(conversation_id=CONVERSATION, tools=[])
    assert first.text == "Hello."
    question = nodes(app)[0]["id"]
    started = start(app, "openai/a", "openai/b", parent_id=question)
    assert started["parent_id"] == question
    assert [one["number"] for one in started["variants"]] == [2, 3]
    assert len(nodes(app)) == 4


def test_one_that_is_refused_stops_no_other(start_app: StartApp) -> None:
    """An unknown model is an entry with its error; the others run and are numbered without it."""
    app, _ = start_app(says("Hello."), models=lists)
    started = start(app, "openai/a", "openai/unknown", "openai/b")
    assert [one["number"] for one in started["variants"]] == [1, None, 2]
    refused = started["variants"][1]
    assert refused["model"] == "openai/unknown"
    assert "run_id" not in refused
    assert (refused["error"]["code"], refused["error"]["retryable"]) == ("UNKNOWN_MODEL", False)
    assert "'openai/unknown'" in refused["error"]["message"]
    for place in (0, 2):
        assert answer_of(app, started["variants"][place]["run_id"]).text == "Hello."


def test_if_all_are_refused_it_is_the_error_of_the_first(start_app: StartApp) -> None:
    """The response is that of a single question, and nothing is stored."""
    app, upstream = start_app(says("Hello."), models=lists)
    refused = post(app, "openai/unknown", "openai/other")
    alone = app.post(prompt="Hi", model="openai/unknown", conversation_id=CONVERSATION)
    assert (refused.status_code, refused.json()) == (alone.status_code, alone.json()) == (422, alone.json())
    assert app.client.get(f"/api/conversations/{CONVERSATION}").status_code == 404
    assert upstream.asked == []


def test_each_run_counts(among: Among) -> None:
    """A user with two slots gets two of four runs, and a retryable error for each of the others."""
    app, _ = among(holds, signalbox_max_runs_per_user=2)
    user = {"x-user": "anna"}
    started = post(app, *FOUR, headers=user).json()["variants"]
    errors = [one["error"]["code"] for one in started if "error" in one]
    assert errors == ["TOO_MANY_RUNS", "TOO_MANY_RUNS"]
    assert all(one["error"]["retryable"] for one in started if "error" in one)
    full = post(app, "openai/a", headers=user)
    assert (full.status_code, error_of(full)["code"], full.headers["retry-after"]) == (429, "TOO_MANY_RUNS", "2")
    for one in started:
        if "run_id" in one:
            app.client.post(f"/api/runs/{one['run_id']}/stop", headers=user)


def test_each_run_is_a_question_of_the_rate_limit(among: Among) -> None:
    """Three questions a minute are three variants; the fourth is refused, and so is the next request."""
    app, _ = among(says("Hello."), signalbox_rate_limit="3/minute")
    user = {"x-user": "anna"}
    started = post(app, *FOUR, headers=user).json()["variants"]
    assert [one.get("error", {}).get("code") for one in started] == [None, None, None, "TOO_MANY_QUESTIONS"]
    refused = post(app, "openai/a", headers=user)
    assert (refused.status_code, error_of(refused)["code"]) == (429, "TOO_MANY_QUESTIONS")
    assert int(refused.headers["retry-after"]) > 0


def test_owners_with_equal_ids_and_keys_have_separate_variants(among: Among) -> None:
    """The conversation, the key and the runs of one user are not those of another."""
    app, upstream = among(says("Hello."))
    anna, bert = ({"x-user": name, "Idempotency-Key": "key-1"} for name in ("anna", "bert"))
    first, second = (post(app, "openai/a", "openai/b", headers=user).json() for user in (anna, bert))
    assert first["conversation_id"] == second["conversation_id"] == CONVERSATION
    assert first["parent_id"] != second["parent_id"]
    assert set(run_ids(first)).isdisjoint(run_ids(second))
    for run_id in run_ids(first):
        assert app.client.get(f"/api/runs/{run_id}/events", headers=bert).status_code == 404
        assert app.client.get(f"/api/runs/{run_id}/events", headers=anna).status_code == 200
    follows = body_of("openai/a", parent_id=run_ids(first)[0], prompt="And?")
    refused = app.client.post("/api/chat/variants", json=follows, headers={"x-user": "bert"})
    assert error_of(refused)["code"] == "UNKNOWN_MESSAGE"
    assert len(upstream.asked) == 4


def test_a_whole_history_is_stored_once(start_app: StartApp) -> None:
    """Each variant receives all of its messages; the conversation has them once."""
    app, upstream = start_app(says("Hello."))
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
    started = start(app, *FOUR, messages=[*history, {"role": "user", "content": "Draw a page."}])
    for run_id in run_ids(started):
        assert answer_of(app, run_id).text == "Hello."
    assert {tuple(message["content"] for message in one.body["messages"]) for one in upstream.asked} == {
        ("Hi", "Yes?", "Draw a page.")
    }
    assert [node["text"] for node in nodes(app)] == ["Hi", "Yes?", "Draw a page.", *["Hello."] * len(FOUR)]


def test_the_same_key_is_the_same_runs(start_app: StartApp) -> None:
    """A repeated request starts nothing; another body or another endpoint cannot use the key."""
    app, upstream = start_app(says("Hello."))
    headers = {"Idempotency-Key": "key-1"}
    first = post(app, "openai/a", "openai/b", headers=headers).json()
    for run_id in run_ids(first):
        answer_of(app, run_id)
    again = post(app, "openai/a", "openai/b", headers=headers)
    assert again.json() == first
    assert len(upstream.asked) == 2
    assert len(nodes(app)) == 3
    other = post(app, "openai/a", "openai/c", headers=headers)
    assert (other.status_code, error_of(other)["code"]) == (422, "KEY_REUSED")
    alone = {"model": "openai/a", "prompt": "Draw a page."}
    refused = app.client.post("/api/chat/stream", json=alone, headers=headers)
    assert error_of(refused)["code"] == "KEY_REUSED"


def test_a_repeated_request_starts_what_was_refused(among: Among) -> None:
    """The run that exists is returned, and the one that had no slot answers the same message."""
    app, _ = among(holds, signalbox_max_runs_per_user=1)
    headers = {"Idempotency-Key": "key-1", "x-user": "anna"}
    first = post(app, "openai/a", "openai/b", headers=headers).json()
    kept = first["variants"][0]["run_id"]
    assert first["variants"][1]["error"]["code"] == "TOO_MANY_RUNS"
    app.client.post(f"/api/runs/{kept}/stop", headers=headers)
    again = post(app, "openai/a", "openai/b", headers=headers).json()
    assert again["parent_id"] == first["parent_id"]
    assert again["variants"][0] == {"number": 1, "model": "openai/a", "run_id": kept}
    assert again["variants"][1]["number"] == 2
    app.client.post(f"/api/runs/{again['variants'][1]['run_id']}/stop", headers=headers)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"variants": []}, "variants"),
        ({"variants": [{}] * 5}, "variants"),
        ({"variants": None}, "variants"),
        ({"variants": {"model": "openai/a"}}, "variants"),
        ({"variants": ["openai/a"]}, "variants.0"),
        ({"variants": [{}, {"temperature": 3}]}, "variants.1.temperature"),
        ({"variants": [{"model": ""}]}, "variants.0.model"),
        ({"variants": [{"reasoning": {"effort": "some"}}]}, "variants.0.reasoning.effort"),
        ({"variants": [{"top_p": 1}]}, "variants.0.top_p"),
        ({"conversation_id": None}, "conversation_id"),
        ({"prompt": None, "parent_id": "x", "continue": True}, "continue"),
        ({"parent_id": "unknown"}, "conversation_id"),
    ],
    ids=str,
)
def test_what_is_invalid_is_named(start_app: StartApp, changed: dict[str, Any], field: str) -> None:
    """A 4xx names the field, and neither a conversation nor a run is made."""
    app, upstream = start_app(says("Hello."))
    refused = app.client.post("/api/chat/variants", json={**body_of("openai/a"), **changed})
    assert 400 <= refused.status_code < 500
    assert error_of(refused)["field"] == field
    assert upstream.asked == []
    assert app.client.get("/api/conversations").json()["conversations"] == []
