"""API tokens as values: made, read, known again."""

import pytest
from signalbox.core.conversations import key_of, shown_id
from signalbox.core.security.api_tokens import new_token, parse_token


def test_a_token_is_known_by_its_secret_alone() -> None:
    """Two of one name and moment differ; each is known by its own secret and by no other."""
    (one, text), (other, _) = new_token("Ada", 1.0), new_token("Ada", 1.0)
    found = parse_token(text)
    assert found is not None
    token_id, secret = found
    assert token_id == one.id != other.id
    assert one.matches(secret)
    assert not other.matches(secret)
    for wrong in ("", secret[:-1], f"{secret}x", secret.swapcase(), f" {secret}", "\udce4"):
        assert not one.matches(wrong)


def test_the_secret_is_long_and_nowhere_in_what_is_kept() -> None:
    """256 random bits, of which the token holds a hash of the same length."""
    token, text = new_token("Ada", 1.0)
    secret = text.removeprefix(f"sb-{token.id}-")
    assert len(secret) == 43
    assert secret not in repr(token)
    assert len(token.digest) == 32


def test_a_token_holds_until_its_moment() -> None:
    """Without an end it holds for ever."""
    assert not new_token("Ada", 1.0)[0].is_expired(1e12)
    token, _ = new_token("Ada", 100.0, 60.0)
    assert [token.is_expired(now) for now in (100.0, 159.9, 160.0, 1e12)] == [False, False, True, True]


@pytest.mark.parametrize("text", ["", "sb-", "sb-0123456789ab", "sb-0123456789AB-x", "xsb-0123456789ab-x", "letmein"])
def test_what_is_no_token_is_not_read(text: str) -> None:
    """Only what begins like one is looked up."""
    assert parse_token(text) is None


def test_what_begins_like_a_token_is_one() -> None:
    """A token that was cut or doubled is still meant as one, so that it can be refused."""
    assert parse_token("sb-0123456789ab-") == ("0123456789ab", "")
    assert parse_token("sb-0123456789ab-x-y\n") == ("0123456789ab", "x-y\n")


@pytest.mark.parametrize("owner", ["", "0123456789ab"])
def test_an_owner_sees_the_ids_that_were_chosen(owner: str) -> None:
    """Whoever owns it, a conversation has the id that its client gave it."""
    assert shown_id(key_of(owner, "chat-1")) == "chat-1"


def test_no_two_owners_share_a_conversation() -> None:
    """Equal ids of two owners are kept apart; those of no owner are kept as they were before there were any."""
    assert len({key_of(owner, "chat-1") for owner in ("", "a" * 12, "b" * 12)}) == 3
    assert key_of("", "chat-1") == "chat-1"
