"""Finds the credentials in headers that an operator adds to an upstream's requests."""

import re
from collections.abc import Iterator, Mapping

# Names of headers whose values are credentials. Values of others, such as `anthropic-beta`, explain an error.
_CREDENTIAL_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
# Shorter values, and shorter prefixes of a key, reveal nothing.
LONGEST_HARMLESS = 8


def credentials_in(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the credentials in the headers of the operator, the longer form of each first."""
    for name, value in headers.items():
        if _CREDENTIAL_HEADER.search(name) and len(value) > LONGEST_HARMLESS:
            yield value
            _, space, word = value.partition(" ")  # `Bearer TOKEN`
            if space and len(word) > LONGEST_HARMLESS:
                yield word
