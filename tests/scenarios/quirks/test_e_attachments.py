"""E14: cited pages and generated images, through the whole app on both loops."""

import json
from typing import Any

import pytest

from tests.scenarios.quirks.sim_runs import Asker, ObservedRun, refuses, said_by, says_either, scripted
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import Script, sends

PNG = "data:image/png;base64,iVBOR"


def sources(observed: ObservedRun) -> list[dict[str, Any]]:
    """Return the pages that the answer cites."""
    return [source for event in observed.heard.of("content") for source in event.get("sources", [])]


def images(observed: ObservedRun) -> list[str]:
    """Return the URLs of the answer's images."""
    return [image["url"] for event in observed.heard.of("content") for image in event.get("images", [])]


def test_e14_cited_pages_are_sources(ask_sim: Asker) -> None:
    """Each source has a number, URL, title, excerpt and position in the text."""
    observed = ask_sim("openai/sim-quirk-e14")
    assert observed.status == ("complete", None)
    first, second = sources(observed)
    assert (first["n"], second["n"]) == (1, 2)
    assert first["url"] == "https://oceanservice.noaa.gov/facts/springtide.html"
    assert (first["start_index"], first["end_index"]) == (0, 51)
    assert first["title"] == "What are spring and neap tides?"
    assert first["snippet"]


def test_e14_images_are_parts_of_the_answer(ask_sim: Asker) -> None:
    """The text around the image stays, and there is no warning."""
    observed = ask_sim("google/sim-quirk-e14-image")
    assert observed.status == ("complete", None)
    assert observed.heard.text == "Here is a sunrise over the sea.\n\nThe sun stands just above the horizon."
    pieces = [event["content"] or "IMAGE" for event in observed.heard.of("content")]
    if ask_sim.loop == "v2":  # the legacy loop emits a complete answer: its text first
        assert "".join(pieces).startswith("Here is a sunrise over the sea.IMAGE")
    [image] = images(observed)
    assert image.startswith(PNG)
    assert observed.heard.warnings == []


def test_e14_an_image_alone_is_an_answer(ask_sim: Asker) -> None:
    """An answer with only an image is neither retried nor FINAL_EMPTY."""
    observed = ask_sim("google/sim-quirk-e14-image-only")
    assert (observed.status, len(observed.requests), len(images(observed))) == (("complete", None), 1, 1)


def test_e14_a_model_that_draws_is_asked_for_images(ask_sim: Asker) -> None:
    """Image models are asked for images without a field of the client; otherwise OpenRouter sends none."""
    observed = ask_sim("google/gemini-2.5-flash-image", "Draw a sunrise.")
    assert observed.last["modalities"] == ["image", "text"]
    assert (observed.status, len(images(observed))) == (("complete", None), 1)
    assert "modalities" not in ask_sim("google/sim", "Draw a sunrise.", tools=[]).last


@pytest.mark.parametrize(("model", "is_sent"), [("google/sim", True), ("deepseek/sim", False)])
def test_e14_images_go_back_where_they_are_read(ask_sim: Asker, model: str, is_sent: bool) -> None:
    """Images are sent in the next user message, since providers reject them in assistant messages."""
    asked = {"conversation_id": f"e14-{ask_sim.loop}-{is_sent}", "tools": []}
    drawn = ask_sim("google/sim-quirk-e14-image-only", "Draw a sunrise.", **asked)
    assert images(drawn)
    again = ask_sim(model, "Make it brighter.", **asked)
    assert again.status == ("complete", None)
    [earlier] = said_by(again.last, "assistant")
    assert isinstance(earlier["content"], str)
    last = said_by(again.last, "user")[-1]["content"]
    if is_sent:
        assert [part["type"] for part in last] == ["text", "image_url", "text"]
        assert last[1]["image_url"]["url"].startswith(PNG)
    else:
        assert "cannot read" in earlier["content"]
        assert again.heard.warnings == ["CONTENT_DROPPED"]


IMAGE = f"{PNG}w0KGgo="
REFUSALS = (
    (400, "Could not process image"),
    (400, "Unable to process input image"),
    (400, "unsupported image"),
    (400, "Invalid base64 image_url."),
    (400, "image dimensions exceed max allowed size"),
    (400, "messages.1.content.1.image.source.base64: image exceeds 5 MB maximum"),
    (413, "Request Entity Too Large"),
)


def draws(url: str) -> Script:
    """Answer with an image as one body."""
    message = {"role": "assistant", "content": None, "images": [{"type": "image_url", "image_url": {"url": url}}]}
    body = {"id": "gen-1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return sends(json.dumps(body).encode(), kind="application/json")


def pictures(body: dict[str, Any]) -> int:
    """Return how many images a request contains."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    return sum(part["type"] == "image_url" for content in contents for part in content)


@pytest.mark.parametrize("loop", ["v2", "legacy"])
@pytest.mark.parametrize(("status", "words"), REFUSALS)
def test_e14_a_refused_drawing_is_left_out(start_app: StartApp, loop: str, status: int, words: str) -> None:
    """The conversation continues without it, with a warning, and so does its next question."""
    refused = refuses(status, words)
    scripts = (draws(IMAGE), refused, says_either("Brighter."), refused, says_either("Darker."))
    app, upstream = start_app(*scripts, settings={"signalbox_allow_loop_header": True})
    asked = {"conversation_id": "drawn", "tools": []}
    scripted(app, upstream.asked, loop, **asked)
    for word in ("Brighter.", "Darker."):
        observed = scripted(app, upstream.asked, loop, **{**asked, "prompt": word})
        assert observed.status == ("complete", None)
        assert (observed.heard.text, observed.heard.warnings) == (word, ["CONTENT_DROPPED"])
        assert [pictures(body) for body in observed.requests] == [1, 0]


def test_e14_a_refused_image_of_the_users_is_an_error(start_app: StartApp) -> None:
    """A user's image is never left out silently, and the request is sent once."""
    part = {"type": "image_url", "image_url": {"url": IMAGE}}
    question = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, part]}]
    app, upstream = start_app(refuses(400, "Could not process image"), settings={"signalbox_allow_loop_header": True})
    observed = scripted(app, upstream.asked, "v2", messages=question, prompt=None, tools=[])
    assert observed.status == ("error", "UPSTREAM_REJECTED")
    assert len(observed.requests) == 1


def test_e14_an_export_holds_images_and_sources(ask_sim: Asker) -> None:
    """Markdown has the image and the pages; JSON has the events."""
    name = f"e14-export-{ask_sim.loop}"
    ask_sim("google/sim-quirk-e14-image", "Draw a sunrise.", conversation_id=name)
    ask_sim("google/sim-quirk-e14", "What are spring tides?", conversation_id=name)
    client = ask_sim.app.client
    markdown = client.get(f"/api/conversations/{name}/export", params={"format": "markdown"}).text
    assert f"![Image](<{PNG}" in markdown
    assert "<https://en.wikipedia.org/wiki/Tide>" in markdown
    observed = client.get(f"/api/conversations/{name}/export", params={"format": "json"}).text
    assert PNG in observed
    assert "springtide" in observed
