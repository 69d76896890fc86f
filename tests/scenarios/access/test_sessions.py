"""The session id that a provider receives does not reveal the owner."""

import pytest
from signalbox.core.conversations import key_of, session_of

from tests.scenarios.access.users import bearer, create_token
from tests.support.fixtures import StartApp, simulator, start_app
from tests.support.scripted_upstream import says

__all__ = ["simulator", "start_app"]


@pytest.mark.parametrize("conversation_id", ["talk", "t" * 256])
def test_a_host_is_not_told_who_asks(start_app: StartApp, conversation_id: str) -> None:
    """All requests of an owner have the same session, other owners have another, and OpenRouter accepts its length."""
    app, upstream = start_app(says("Hello."))
    (ada, adas), (_, bobs) = create_token(app, "Ada"), create_token(app, "Bob")
    for text in (adas, adas, bobs, ""):
        sent = app.client.post(
            "/api/chat/stream",
            json={"model": "openai/sim", "prompt": "Hi", "tools": [], "conversation_id": conversation_id},
            headers=bearer(text) if text else {},
        )
        assert sent.status_code == 200
        assert sent.headers["x-conversation-id"] == conversation_id
    first, again, other, nobodys = (asked.body["session_id"] for asked in upstream.asked)
    assert first == again == session_of(key_of(ada.id, conversation_id)) != other
    assert nobodys == conversation_id
    assert [len(one) for one in (first, other)] == [32, 32]
    assert not any(ada.id.encode() in asked.raw for asked in upstream.asked)
