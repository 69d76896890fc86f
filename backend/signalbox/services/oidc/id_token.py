"""Validates ID tokens: signature, issuer, audience, expiry and nonce."""

from typing import Any, cast

from authlib.oidc.core import CodeIDToken  # pyright: ignore[reportMissingTypeStubs] - Authlib has no types
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet, KeySetSerialization

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

# Signatures by a private key of the provider. `none` and HS256, whose key is the client secret, are not accepted.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
_LEEWAY_SECONDS = 60
_LONGEST_SUBJECT = 255
_Claims: Any = CodeIDToken


class UnknownKey(Exception):
    """No key of the provider fits the signature; the provider may have new keys."""


def claims_of(id_token: str, keys: dict[str, Any], *, issuer: str, client_id: str, nonce: str) -> dict[str, object]:
    """Return the claims of a valid ID token; raises UnknownKey, and RequestError SIGN_IN_FAILED."""
    try:
        key_set = KeySet.import_key_set(cast(KeySetSerialization, keys))
        token = jwt.decode(id_token, key_set, algorithms=_ALGORITHMS)
        options = {
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": client_id},
            "nonce": {"essential": True, "value": nonce},
        }
        claims = _Claims(token.claims, token.header, options, {"nonce": nonce, "client_id": client_id})
        claims.validate(leeway=_LEEWAY_SECONDS)
    except (InvalidKeyIdError, BadSignatureError) as error:
        raise UnknownKey(error.error) from None
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise invalid(_reason_of(error)) from None
    subject = token.claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT:
        raise invalid("invalid_claim: sub")
    return token.claims


def invalid(reason: str) -> RequestError:
    """Return the error for an ID token that is not valid."""
    words = f"The sign-in service sent an ID token that is not valid ({reason}). Sign in again."
    return RequestError(Code.SIGN_IN_FAILED, words)


def _reason_of(error: Exception) -> str:
    """Name the error without values of the token."""
    if not isinstance(error, JoseError):
        return "unreadable"
    claim = getattr(error, "claim", None)
    return f"{error.error}: {claim}" if isinstance(claim, str) else error.error
