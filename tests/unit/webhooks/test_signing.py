"""Signatures of webhooks, checked by the library of the Standard Webhooks specification."""

from time import time

import pytest
from signalbox.core.operation.webhooks import Receiver
from signalbox.webhooks.signing import new_secret, signed_headers
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

BODY = '{"type":"run.ended","data":{"name":"Zoë"}}'.encode()


def test_the_library_accepts_our_signature():
    """A receiver verifies a request with the library and the secret as we show it."""
    secret = new_secret()
    assert Webhook(secret).verify(BODY, signed_headers("msg_1", time(), BODY, [secret]))["type"] == "run.ended"


@pytest.mark.parametrize("change", ["id", "timestamp", "body", "secret", "age"])
def test_nothing_signed_can_change(change: str):
    """Another id, time, body or secret is refused, and so is a request that is replayed later."""
    secret, at, body = new_secret(), time() - (600 if change == "age" else 0), BODY
    headers = signed_headers("msg_1", at, body, [secret])
    if change == "id":
        headers["webhook-id"] = "msg_2"
    if change == "timestamp":
        headers["webhook-timestamp"] = str(int(at) + 1)
    if change == "body":
        body += b" "
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret() if change == "secret" else secret).verify(body, headers)


def test_both_secrets_work_while_a_rotation_is_under_way():
    """Until `former_until`, a receiver with either secret accepts a request; later only one with the new secret."""
    old, new, now = new_secret(), new_secret(), time()
    receiver = Receiver("wh_1", "https://example.org/", (), new, now, former_secret=old, former_until=now + 10)
    headers = signed_headers("msg_1", now, BODY, receiver.secrets(now))
    assert Webhook(old).verify(BODY, headers) == Webhook(new).verify(BODY, headers)
    assert receiver.secrets(now + 10) == [new]
