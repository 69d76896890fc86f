"""The flag `tool_loop_v2` from an OpenFeature provider: that of this process, or a file in flagd's format."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog
from openfeature import api
from openfeature.contrib.tools.flagd.core import FlagdCore
from openfeature.evaluation_context import EvaluationContext  # pyright: ignore[reportMissingTypeStubs]
from openfeature.exception import FlagNotFoundError, OpenFeatureError
from openfeature.flag_evaluation import FlagResolutionDetails, FlagValueType
from openfeature.provider import AbstractProvider, Metadata  # pyright: ignore[reportMissingTypeStubs]

from signalbox.core.events import Flag
from signalbox.flags.choice import FLAG_KEY, Choice
from signalbox.flags.provider import Target

_DOMAIN = "signalbox"
_log = structlog.get_logger()


class OpenFeatureFlags:
    """Evaluates the flag through the OpenFeature client of a domain. A failure is logged when the error changes."""

    def __init__(self, domain: str | None = None) -> None:
        self._client = api.get_client(domain)
        self._error: str | None = None

    def choose(self, target: Target) -> Choice | None:
        """Evaluate the boolean flag: true is the V2 loop. A disabled flag is the legacy loop.

        None if the provider fails, or has no boolean flag of this name.
        """
        facts = {"protocol": target.protocol, "family": target.family, "owner": target.owner}
        found = self._client.get_boolean_details(FLAG_KEY, False, EvaluationContext(target.key, facts))
        error = found.error_code.value if found.error_code is not None else None
        if error != self._error:
            self._error = error
            if error is not None:
                _log.error("flag.provider_failed", flag=FLAG_KEY, error=error)
            else:
                _log.info("flag.provider_available", flag=FLAG_KEY)
        if error is not None:
            return None
        loop = "v2" if found.value else "legacy"
        return Choice(loop, Flag(variant=found.variant or loop, reason=str(found.reason or "UNKNOWN")))


class FlagdFile(AbstractProvider):
    """An OpenFeature provider of the flags in a file in flagd's format, which is read again when it changes."""

    def __init__(self, path: Path) -> None:
        """Read the file; raises OSError and ValueError."""
        super().__init__()
        self._path = path
        self._core = FlagdCore()
        self._seen: tuple[int, int, int] | None = None
        self._read(self._mark())

    def get_metadata(self) -> Metadata:
        """Return the provider's name."""
        return Metadata("flagd file")

    def has(self, key: str) -> bool:
        """Return whether the file has this flag."""
        try:
            self._core.resolve_object_value(key, {})
        except FlagNotFoundError:
            return False
        except OpenFeatureError:  # it is not an object
            return True
        return True

    def resolve_boolean_details(  # noqa: D102
        self, flag_key: str, default_value: bool, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[bool]:
        self._refresh()
        return self._core.resolve_boolean_value(flag_key, default_value, evaluation_context)

    def resolve_string_details(  # noqa: D102
        self, flag_key: str, default_value: str, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[str]:
        self._refresh()
        return self._core.resolve_string_value(flag_key, default_value, evaluation_context)

    def resolve_integer_details(  # noqa: D102
        self, flag_key: str, default_value: int, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[int]:
        self._refresh()
        return self._core.resolve_integer_value(flag_key, default_value, evaluation_context)

    def resolve_float_details(  # noqa: D102
        self, flag_key: str, default_value: float, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[float]:
        self._refresh()
        return self._core.resolve_float_value(flag_key, default_value, evaluation_context)

    def resolve_object_details(  # noqa: D102
        self,
        flag_key: str,
        default_value: Sequence[FlagValueType] | Mapping[str, FlagValueType],
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Sequence[FlagValueType] | Mapping[str, FlagValueType]]:
        self._refresh()
        return self._core.resolve_object_value(flag_key, default_value, evaluation_context)

    def _refresh(self) -> None:
        """Read the file again if it has changed; the flags stay as they are if it cannot be read."""
        try:
            mark = self._mark()
            if mark != self._seen:
                self._read(mark)
        except (OSError, ValueError) as error:
            if self._seen is not None:
                self._seen = None
                _log.error("flag.file_unreadable", file=self._path.name, error=type(error).__name__)

    def _mark(self) -> tuple[int, int, int]:
        found = self._path.stat()
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _read(self, mark: tuple[int, int, int]) -> None:
        try:
            text = self._path.read_text(encoding="utf-8")
            _check_defaults(text)
            self._core.set_flags(text)
        except (
            OpenFeatureError,
            AttributeError,
            KeyError,
            TypeError,
        ) as error:  # of JSON of another shape
            raise ValueError("not in flagd's format") from error
        self._seen = mark


def _check_defaults(text: str) -> None:
    """Raise ValueError for a default that is not a variant, which flagd's evaluator would accept."""
    for key, flag in json.loads(text)["flags"].items():
        default = flag.get("defaultVariant")
        name = "true" if default is True else default  # of variants that are named true and false
        if name and name not in flag["variants"]:
            raise ValueError(f"the default of {key} is not one of its variants")


def flags_of_file(path: Path) -> OpenFeatureFlags:
    """Return the flags of a file in flagd's format, and warn if it lacks the flag; raises OSError and ValueError."""
    file = FlagdFile(path)
    if not file.has(FLAG_KEY):
        _log.warning("flag.not_in_file", flag=FLAG_KEY, file=path.name, effective="legacy")
    api.set_provider(file, _DOMAIN)
    return OpenFeatureFlags(_DOMAIN)
