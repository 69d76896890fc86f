"""What can go wrong, as types with a code, a sentence and what to do.

SignalboxError
├── RequestError      before a run exists: answered with a 4xx that names the field
├── UpstreamError     what the upstream refused, broke or withheld: told inside the stream
└── ToolError         why a tool call has no result: told to the model and to the client
"""

from signalbox.core.codes import CODES, Code

# Seconds: a client may wait this long and retry without asking the user. A limit that resets later
# (OpenRouter's free models have one per day) has `retryable: false`; `retry_after` still says when.
LONGEST_RETRY_AFTER = 600.0


class SignalboxError(Exception):
    """Any failure with a code of ours; `message` is safe to show."""

    def __init__(self, code: Code, message: str = "") -> None:
        self.code = code
        self.message = message or CODES[code].sentence
        super().__init__(self.message)

    @property
    def todo(self) -> str:
        """What the reader can do about it."""
        return CODES[self.code].todo


class RequestError(SignalboxError):
    """A request that cannot become a run; `field` names what is wrong in it, as a dotted path.

    `status` is another HTTP status than the code's own, `retry_after` how many seconds to wait before asking again.
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
        self.status = status or CODES[code].http
        self.retry_after = retry_after


class StoreError(SignalboxError):
    """The database did not do what it was asked."""


class UpstreamError(SignalboxError):
    """What the upstream refused or broke.

    `status` is the HTTP status (or the code of an error inside a 200), `retry_after` is in seconds, `affordable` the
    number of tokens that the account can still pay, where the upstream tells it. `about_images`: it may have refused
    the images of the request, not its words.
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
        self.retryable = self._may_help() if retryable is None else retryable

    def _may_help(self) -> bool:
        """Whether asking again may help soon; a limit that resets tomorrow is nothing that a client should wait for."""
        return CODES[self.code].retryable and (self.retry_after or 0.0) <= LONGEST_RETRY_AFTER


class ToolError(SignalboxError):
    """Why a tool has no result; the message is read by the model and may be shown to the user."""
