"""API tokens as values: creation, parsing, verification."""

import pytest
from signalbox.core.conversations import key_of, shown_id
from signalbox.core.security.api_tokens import new_token, parse_token


def test_a_token_matches_only_its_own_secret() -> None:
    """Two tokens with the same name and time differ; each matches only its own secret."""
    (one, text), (other, _) = new_token("Ada", 1.0), new_token("Ada", 1.0)
    found = parse_token(text)
    assert found is not None
    token_id, secret = found
    assert token_id == one.id != other.id
    assert one.matches(secret, 0)
    assert not other.matches(secret, 0)
    for wrong in ("", secret[:-1], f"{secret}x", secret.swapcase(), f" {secret}", "\udce4"):
        assert not one.matches(wrong, 0)


def test_the_secret_is_not_stored() -> None:
    """The secret has 256 random bits; the token stores only a hash of it."""
    token, text = new_token("Ada", 1.0)
    secret = text.removeprefix(f"sb-{token.id}-")
    assert len(secret) == 43
    assert secret not in repr(token)
    assert len(token.digest) == 32


def test_a_token_is_valid_until_it_expires() -> None:
    """Without an expiry a token is valid forever."""
    assert not new_token("Ada", 1.0)[0].is_expired(1e12)
    token, _ = new_token("Ada", 100.0, 60.0)
    assert [token.is_expired(now) for now in (100.0, 159.9, 160.0, 1e12)] == [False, False, True, True]


@pytest.mark.parametrize("text", ["", "sb-", "sb-0123456789ab", "sb-0123456789AB-x", "xsb-0123456789ab-x", "letmein"])
def test_other_texts_are_not_parsed(text: str) -> None:
    """Only texts in the form of a token are looked up."""
    assert parse_token(text) is None


def test_damaged_tokens_are_recognised() -> None:
    """A truncated or duplicated token is recognised as one, so that it is rejected."""
    assert parse_token("sb-0123456789ab-") == ("0123456789ab", "")
    assert parse_token("sb-0123456789ab-x-y\n") == ("0123456789ab", "x-y\n")


@pytest.mark.parametrize("owner", ["", "0123456789ab"])
def test_owners_see_the_ids_that_clients_chose(owner: str) -> None:
    """With any owner, a conversation is shown under the id that its client chose."""
    assert shown_id(key_of(owner, "chat-1")) == "chat-1"


def test_no_two_owners_share_a_conversation() -> None:
    """Equal ids of two owners are stored separately; ids without an owner are stored unchanged."""
    assert len({key_of(owner, "chat-1") for owner in ("", "a" * 12, "b" * 12)}) == 3
    assert key_of("", "chat-1") == "chat-1"
