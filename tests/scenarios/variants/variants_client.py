"""A client that asks one question in several variants, and an upstream that answers by model."""

from collections.abc import Mapping
from typing import Any

import httpx

from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Exchange, Script
from tests.support.stream_reader import ParsedStream, check_stream

PATH = "/api/chat/variants"
CONVERSATION = "talk-1"
FOUR = ("openai/a", "openai/b", "openai/c", "openai/d")


def by_model(scripts: Mapping[str, Script], otherwise: Script) -> Script:
    """Make a script that depends on the model: variants ask the upstream in no fixed order."""

    async def script(exchange: Exchange) -> None:
        await scripts.get(exchange.asked.body["model"], otherwise)(exchange)

    return script


def body_of(*models: str, **body: Any) -> dict[str, Any]:
    """Return a question to these models, without tools."""
    variants = [{"model": model} for model in models]
    fixed = {"model": "openai/sim", "tools": [], "conversation_id": CONVERSATION, "variants": variants}
    return {**fixed, **({} if {"messages", "parent_id"} & body.keys() else {"prompt": "Draw a page."}), **body}


def post(app: RunningApp, *models: str, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
    """Send a question to these models."""
    return app.client.post(PATH, json=body_of(*models, **body), headers=headers)


def start(app: RunningApp, *models: str, **body: Any) -> dict[str, Any]:
    """Start variants; return the response."""
    response = post(app, *models, **body)
    assert response.status_code == 200, response.text
    return response.json()


def run_ids(started: dict[str, Any]) -> list[str]:
    """Return the ids of the runs of a response."""
    return [one["run_id"] for one in started["variants"]]


def answer_of(app: RunningApp, run_id: str) -> ParsedStream:
    """Read a run to its end, and check the stream."""
    return check_stream(app.client.get(f"/api/runs/{run_id}/events").content)


def nodes(app: RunningApp) -> list[dict[str, Any]]:
    """Return the messages and answers of the conversation."""
    return app.client.get(f"/api/conversations/{CONVERSATION}").json()["messages"]


def statuses(app: RunningApp) -> dict[str, str]:
    """Return the status of each run by its model."""
    return {run["model"]: run["status"] for run in app.client.get("/api/runs").json()["runs"]}
