"""Every conversation becomes turns that the API accepts: each has a role and a part, each call has a result."""

import json
from itertools import chain, pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.messages import (
    AssistantMessage,
    ImagePart,
    JsonObject,
    Message,
    Native,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.core.parts import Request
from signalbox.wire.gemini.request import body_of

TEXTS = st.sampled_from(["", " ", "Hi", "ü"])
CONTENTS = TEXTS | st.lists(st.builds(TextPart, TEXTS) | st.just(ImagePart("https://a.example/b.png")), max_size=2).map(
    tuple
)


@st.composite
def steps(draw: st.DrawFn) -> list[Message]:
    """Draw a turn of the model with its results, as the API sent it or as another model wrote it."""
    ids = draw(st.lists(st.sampled_from(["fc-1", "fc-2", None]), min_size=1, max_size=3))
    calls = tuple(ToolCall(name or f"call_{at}", "f", {"n": at}, name) for at, name in enumerate(ids))
    items: list[JsonObject] = [
        {
            "functionCall": {
                "name": "f",
                "args": call.arguments,
                **({"id": call.upstream_id} if call.upstream_id else {}),
            }
        }
        for call in calls
    ]
    native = Native(draw(st.sampled_from(["gemini", "anthropic-messages"])), tuple(items))
    said = AssistantMessage(draw(TEXTS), calls, native=draw(st.sampled_from([native, None])))
    return [said, *(ToolMessage(call.id, "f", draw(TEXTS), is_error=draw(st.booleans())) for call in calls)]


OTHERS = st.builds(UserMessage, CONTENTS) | st.builds(SystemMessage, CONTENTS) | st.builds(AssistantMessage, TEXTS)
CONVERSATIONS = st.lists(steps() | OTHERS.map(lambda message: [message]), max_size=6).map(
    lambda lists: [*chain(*lists)]
)


@given(CONVERSATIONS, st.sampled_from(["gemini-2.5-flash", "gemini-3-flash", "gemma-3-27b-it"]))
def test_any_conversation(messages: list[Message], model: str) -> None:
    """Each turn has a role and parts; the results of a turn answer its calls, with the ids that the API chose."""
    turns: list[dict[str, Any]] = json.loads(body_of(Request(model, tuple(messages))))["contents"]
    for turn in turns:
        assert turn["role"] in ("user", "model")
        assert turn["parts"]
        assert all(len(part.keys() - {"thoughtSignature"}) == 1 for part in turn["parts"])
    for turn, following in pairwise(turns):
        calls = [part["functionCall"] for part in turn["parts"] if "functionCall" in part]
        results = [part["functionResponse"] for part in following["parts"] if "functionResponse" in part]
        if calls:
            assert [(call["name"], call.get("id")) for call in calls] == [
                (one["name"], one.get("id")) for one in results
            ]
        else:
            assert results == []
