"""Exceptions with a code, a message and a suggested action.

SignalboxError
├── RequestError      before a run exists: becomes a 4xx or 5xx response that names the field
├── StoreError        the database failed
├── UpstreamError     the upstream rejected, broke or withheld the answer: becomes events of the stream
└── ToolError         a tool call failed: becomes its result, for the model and the client
"""

import re

from msgspec import ValidationError

from signalbox.core.codes import CODES, Code

# Seconds that a client may wait before it retries without asking the user. A limit that resets later (OpenRouter's
# free models have a daily one) has `retryable: false`; `retry_after` still says when.
LONGEST_RETRY_AFTER = 600.0
# msgspec's message: "Expected `int`, got `str` - at `$.orders[0].count`".
_VALIDATION = re.compile(r"(?P<fault>.*?)(?: - at `(?P<key>key` in `)?(?P<path>.*)`)?", re.DOTALL)
_LONGEST_VALIDATION = 500


class SignalboxError(Exception):
    """A failure with a code of Signalbox. `message` is safe to show to users."""

    def __init__(self, code: Code, message: str = "") -> None:
        self.code = code
        self.message: str = message or CODES[code].sentence
        super().__init__(self.message)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle the attributes. Exception would call `__init__` with the message as the code."""
        return _without_init, (type(self), self.args), self.__dict__

    @property
    def todo(self) -> str:
        """What the user can do about the failure."""
        return CODES[self.code].todo


def _without_init(kind: type[SignalboxError], args: tuple[object, ...]) -> SignalboxError:
    return kind.__new__(kind, *args)


class RequestError(SignalboxError):
    """A rejected request. `field` is the dotted path of the invalid field.

    `status` overrides the default HTTP status of the code. `retry_after` is in seconds.
    """

    def __init__(
        self,
        code: Code,
        message: str = "",
        field: str | None = None,
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(code, message)
        self.field = field
        self.status: int = status or CODES[code].http
        self.retry_after = retry_after


class StoreError(SignalboxError):
    """The database failed or rejected an operation."""


class UpstreamError(SignalboxError):
    """A request that the upstream rejected or failed to answer.

    `status` is the HTTP status, or the code of an error inside a 200. `retry_after` is in seconds. `affordable` is
    the number of tokens that the account can still pay for, if the upstream says. `about_images` is whether the
    images of the request may be the cause.
    """

    def __init__(
        self,
        code: Code,
        message: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
        affordable: int | None = None,
        about_images: bool = False,
    ) -> None:
        super().__init__(code, message)
        self.status = status
        self.about_images = about_images
        self.affordable = affordable
        self.retry_after = retry_after
        self.retryable = self._is_retryable() if retryable is None else retryable

    def _is_retryable(self) -> bool:
        """Return whether a retry may help soon; a client does not wait for a limit that resets tomorrow."""
        return CODES[self.code].retryable and (self.retry_after or 0.0) <= LONGEST_RETRY_AFTER


class ToolError(SignalboxError):
    """A failed tool call. The model reads the message, and the user may see the message.

    `artifact` is for people, as in a `ToolReturn`.
    """

    def __init__(self, code: Code, message: str = "", *, artifact: object = None) -> None:
        super().__init__(code, message)
        self.artifact = artifact


def described(error: ValidationError, inside: str = "") -> tuple[str, str]:
    """Return the dotted path of the invalid field, empty if there is none, and a sentence that names the field.

    `inside` is the path of the value that was converted.
    """
    found = _VALIDATION.fullmatch(str(error)[:_LONGEST_VALIDATION])
    assert found is not None  # the expression matches every text
    path = (inside + (found["path"] or "").removeprefix("$")).removeprefix(".").replace("[...]", "[]")
    fault = found["fault"].replace("`", "")
    if found["key"]:
        fault = f"in a key, {fault[:1].lower()}{fault[1:]}"
    return path, f"{path}: {fault[:1].lower()}{fault[1:]}" if path else fault
