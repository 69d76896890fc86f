"""Validates ID tokens: signature, issuer, audience, expiry and nonce."""

from typing import Any

import structlog
from authlib.oidc.core import CodeIDToken  # pyright: ignore[reportMissingTypeStubs] - Authlib has no types
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

# Signatures by a private key of the provider. `none` and HS256, whose key is the client secret, are not accepted.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
_LEEWAY_SECONDS = 60
_LONGEST_SUBJECT = 255
_Claims: Any = CodeIDToken

_log = structlog.get_logger()


class UnknownKey(Exception):
    """No key of the provider fits the signature; the provider may have new keys."""


def claims_of(id_token: str, keys: dict[str, Any], *, issuer: str, client_id: str, nonce: str) -> dict[str, object]:
    """Return the claims of a valid ID token; raises UnknownKey, and RequestError SIGN_IN_FAILED."""
    try:
        token = jwt.decode(id_token, _key_set(keys), algorithms=_ALGORITHMS)
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


def _key_set(keys: dict[str, Any]) -> KeySet:
    """Return the keys that can be read; raises UnknownKey if there are none.

    A provider may also publish keys of a kind that is not known here. They do not make the others useless.
    """
    usable: list[Key] = []
    for one in keys["keys"]:
        try:
            usable.append(JWKRegistry.import_key(one))
        except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            _log.warning("sign_in.key_skipped", reason=type(error).__name__)
    if not usable:
        raise UnknownKey("the provider has no usable keys")
    return KeySet(usable)


def invalid(reason: str) -> RequestError:
    """Return the error for an ID token that is not valid."""
    words = f"The sign-in service sent an ID token that is not valid ({reason})."
    return RequestError(Code.SIGN_IN_FAILED, words)


def _reason_of(error: Exception) -> str:
    """Name the error without values of the token."""
    if not isinstance(error, JoseError):
        return "unreadable"
    claim = getattr(error, "claim", None)
    return f"{error.error}: {claim}" if isinstance(claim, str) else error.error
