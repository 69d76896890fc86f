"""Executes tools: validates arguments, applies timeouts, cleans and limits results; never raises."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, cast

import orjson
from msgspec.structs import replace

from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.failure_location import failure_location
from signalbox.core.log import Log
from signalbox.core.messages import JsonObject, JsonValue, image_parts
from signalbox.core.security.image_addresses import ImageAddresses
from signalbox.core.tools import Tool, ToolContext, ToolOutcome, ToolReturn, ToolSpec
from signalbox.offload import offloaded
from signalbox.services.argument_shapes import shape_of, surely_fit
from signalbox.services.tool_artifacts import UnusableArtifactError, artifact_json
from signalbox.services.tool_results import ExcessiveResultError, as_json, measured, without_surrogates
from signalbox.tools.daemon_threads import ExitError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

_log = Log(__name__)

_MOST_ERRORS = 3
_LONGEST_MESSAGE = 1_000


class ToolExecutor:
    """The ToolRunner of the app. `offered` are the `tools` that are available.

    `result_limit` is in characters of JSON (quirk G5). `images` signs the addresses of images in tables.

    Tools run on the event loop. A tool that blocks must use a thread (`asyncio.to_thread`); otherwise it stops its own
    timeout and all streams.
    """

    def __init__(
        self, tools: Sequence[Tool], *, result_limit: int = 24_000, images: ImageAddresses | None = None
    ) -> None:
        self.tools = tuple(tools)
        self.by_name = {tool.spec.name: tool for tool in self.tools}
        self.offered = tuple(tool for tool in self.tools if tool.unavailable is None)
        if len(self.by_name) < len(self.tools):
            name, _ = Counter(tool.spec.name for tool in self.tools).most_common(1)[0]
            raise ValueError(f"two tools have the same name, {name}")
        self._result_limit = result_limit
        self._images = images
        self._shapes = {tool.spec.name: shape_of(tool.spec.parameters) for tool in self.tools}

    def prepare(self) -> None:
        """Load jsonschema before the first call; may be called in another thread."""
        _ = self._validators

    @cached_property
    def _validators(self) -> "dict[str, Draft202012Validator]":
        return {tool.spec.name: _validator(tool.spec.parameters) for tool in self.tools}

    def spec(self, name: str) -> ToolSpec | None:
        """Return the spec of an offered tool, None for other names."""
        tool = self.by_name.get(name)
        return tool.spec if tool and tool.unavailable is None else None

    def check(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolOutcome | None:
        """Return a failure that tells a model how to correct a call, None if the call is valid."""
        tool = self.by_name.get(name)
        if tool is None or tool.unavailable is not None:
            return self._not_offered(name, tool)
        given = _without_nulls(arguments, tool.spec.parameters)
        if surely_fit(given, self._shapes[name]):
            return None
        validator = self._validators[name]
        # jsonschema's own types are partly unknown to a type checker.
        found = cast("Iterator[ValidationError]", validator.iter_errors(given))  # pyright: ignore[reportUnknownMemberType]
        errors = list(islice(found, _MOST_ERRORS + 1))
        if not errors:
            return None
        sentences = [_in_words(error, tool.spec.parameters) for error in errors[:_MOST_ERRORS]]
        more = "; and more" if len(errors) > _MOST_ERRORS else ""
        return ToolOutcome.failed(Code.INVALID_ARGUMENTS, _safe_text("; ".join(sentences) + more))

    async def run(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutcome:
        """Execute one call that passed `check`, within the tool's timeout; raises only CancelledError."""
        tool = self.by_name.get(name)
        if tool is None or tool.unavailable is not None:
            return self._not_offered(name, tool)
        given = _without_nulls(arguments, tool.spec.parameters)
        if (failure := await _check_url(tool.spec, given, context)) is not None:
            return failure
        limit = asyncio.timeout(tool.spec.timeout)
        try:
            async with limit:
                returned = await tool.run(given, context)
            if limit.expired():  # the tool has ignored its cancellation
                return _failure_of(tool.spec, given, TimeoutError(), context, is_late=True)
            if isinstance(returned, ToolReturn):
                return await self._accepted_return(tool.spec, given, returned, context)
            return await self._accepted(tool.spec, given, returned, context)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            failure = _failure_of(tool.spec, given, error, context, is_late=limit.expired())
            artifact = await self._artifact_of(tool.spec, error, context)
            return failure if artifact is None else replace(failure, artifact=artifact)

    async def _accepted_return(
        self, spec: ToolSpec, given: JsonObject, returned: ToolReturn, context: ToolContext
    ) -> ToolOutcome:
        try:
            images = tuple(image_parts(returned.images))
        except (TypeError, ValueError) as error:
            return _rejected(spec, context, "images", f"are not all images: images{error}")
        outcome = await self._accepted(spec, given, returned.result, context, returned.artifact)
        return replace(outcome, images=images) if outcome.success else outcome

    async def _accepted(
        self, spec: ToolSpec, given: JsonObject, result: JsonValue, context: ToolContext, artifact: object = None
    ) -> ToolOutcome:
        """Clean and limit a result, count its size, and allow its URLs."""
        try:
            shown = await artifact_json(artifact, self._images)
            written = await offloaded(partial(as_json, result), size=measured(result, LARGE))
        except UnusableArtifactError as error:
            return _rejected(spec, context, "artifact", error.reason)
        except ExcessiveResultError as error:
            return _rejected(spec, context, "result", f"{error.reason}; ask for less")
        except TypeError:
            return _rejected(spec, context, "result", "is not JSON")
        left = context.result_budget.remaining()  # read after the await, because the calls of a step share it
        value = written.capped(min(self._result_limit, left), crowded=left < self._result_limit)
        context.result_budget.count(min(written.size, self._result_limit, left))
        if spec.untrusted:
            context.url_allowlist.add_result(value, spec.name, given, spec.url_argument)
        return ToolOutcome(True, value, untrusted=spec.untrusted, artifact=shown)

    async def _artifact_of(self, spec: ToolSpec, error: BaseException, context: ToolContext) -> JsonValue:
        """Return the artifact of a tool's error, None without a usable one: the failure counts more."""
        if not isinstance(error, ToolError) or not _is_well_formed(error):
            return None
        try:
            return await artifact_json(error.artifact, self._images)
        except UnusableArtifactError as unusable:
            _log.warning("tool.artifact_rejected", tool=spec.name, reason=unusable.reason, run_id=context.run_id)
            return None

    def _not_offered(self, name: str, tool: Tool | None) -> ToolOutcome:
        if tool is not None:
            return ToolOutcome.failed(Code.TOOL_UNAVAILABLE, f"{name} is not available: {tool.unavailable}")
        names = ", ".join(n for n in self.by_name if self.spec(n)) or "none"
        shown = _safe_text(name)[:64]
        return ToolOutcome.failed(Code.UNKNOWN_TOOL, f'there is no tool "{shown}"; the tools are: {names}')


def _rejected(spec: ToolSpec, context: ToolContext, part: str, reason: str) -> ToolOutcome:
    """Log why a part of what a tool returned cannot be used, and return it as a failure."""
    if part == "artifact":
        _log.warning("tool.artifact_rejected", tool=spec.name, reason=reason, run_id=context.run_id)
    else:
        _log.warning("tool.result_rejected", tool=spec.name, reason=reason, run_id=context.run_id)
    return ToolOutcome.failed(Code.TOOL_FAILED, f"The {part} of {spec.name} {reason}.")


def _is_cancelled() -> bool:
    """Return whether the call itself is cancelled, and not only a task of the tool."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _failure_of(
    spec: ToolSpec, given: JsonObject, error: BaseException, context: ToolContext, *, is_late: bool
) -> ToolOutcome:
    if is_late:
        return ToolOutcome.failed(Code.TIMEOUT, f"{spec.name} did not answer within {spec.timeout:g} s")
    if isinstance(error, TimeoutError):
        return ToolOutcome.failed(Code.TIMEOUT, f"{spec.name} did not answer in time")
    if isinstance(error, ToolError) and _is_well_formed(error):
        return _failed(spec, given, error, context)
    # Only its type and location: the message may contain arguments, paths and keys.
    _log.warning(
        "tool.failed",
        tool=spec.name,
        error=type(error.error if isinstance(error, ExitError) else error).__name__,
        raised_at=failure_location(error),
        run_id=context.run_id,
    )
    return ToolOutcome.failed(Code.TOOL_FAILED, f"{spec.name} failed; answer without it, or call it differently")


def _is_well_formed(error: ToolError) -> bool:
    """Return whether a tool's error has valid attributes; a subclass may set anything."""
    code, message = cast(object, error.code), cast(object, error.message)
    return isinstance(code, Code) and type(message) is str


def _failed(spec: ToolSpec, given: JsonObject, error: ToolError, context: ToolContext) -> ToolOutcome:
    """Return a tool's error as a failure; it is untrusted if it may quote a page."""
    failure = ToolOutcome.failed(error.code, _safe_text(error.message))
    if not spec.untrusted or spec.own_failures:
        return failure
    context.url_allowlist.add_result(failure.error, spec.name, given, spec.url_argument)
    return replace(failure, untrusted=True)


# --- arguments ---


async def _check_url(spec: ToolSpec, given: JsonObject, context: ToolContext) -> ToolOutcome | None:
    """Reject a URL that appears neither in a result nor in a user's message, once untrusted text was read (quirk G3).

    A known URL is replaced by the text in which it appeared, so that a model cannot append data to it.
    """
    url = given.get(spec.url_argument) if spec.url_argument else None
    if spec.url_argument is None or not isinstance(url, str):
        return None
    if not context.url_allowlist.requires_known(url):
        return None
    # Offloaded, because it may search the whole conversation.
    found = await offloaded(partial(context.url_allowlist.as_found, url), size=LARGE)
    if found is None:
        return ToolOutcome.failed(Code.URL_NOT_FOUND_HERE, _NOT_FOUND_HERE)
    given[spec.url_argument] = found
    return None


_NOT_FOUND_HERE = (
    "This address appears neither in a result nor in what the user wrote, so it was not opened. "
    "Use an address exactly as given in a result, search for the page, or answer without it."
)


def _validator(schema: JsonObject) -> "Draft202012Validator":
    from jsonschema import Draft202012Validator  # imported late, so that a start does not wait for it (`prepare`)

    # Providers receive the schema without additionalProperties (quirk C10); here an unknown argument is an error.
    return Draft202012Validator({"additionalProperties": False, **schema})


def _without_nulls(arguments: Mapping[str, JsonValue], schema: JsonObject) -> JsonObject:
    """Drop nulls of optional arguments, which some models write for "not given"."""
    if None not in arguments.values():
        return {**arguments}
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    return {name: value for name, value in arguments.items() if value is not None or name in needed}


_TYPE_WORDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _in_words(error: "ValidationError", schema: JsonObject) -> str:
    path = _path(error)
    instance = cast(JsonValue, error.instance)
    wanted = cast(JsonValue, error.validator_value)
    match error.validator:
        case "required":
            return _missing(error, path)
        case "additionalProperties":
            return _unknown(_object(instance), _object(schema.get("properties")))
        case "type":
            return f"{path}: expected {_type_words(wanted)}, got {_value_words(instance)}"
        case "enum":
            return f"{path}: expected one of {_choices(wanted)}, got {_value_words(instance)}"
        case _:
            return f"{path}: {error.message[:200]}"


def _missing(error: "ValidationError", path: str) -> str:
    """Return the name of a missing field, which jsonschema gives only in its message."""
    name = error.message.split("'")[1]
    schema = _object(cast(JsonValue, error.schema))
    kind = _object(_object(schema.get("properties")).get(name)).get("type", "any")
    return f"{'' if path == 'arguments' else path + '.'}{name}: is required ({kind})"


def _unknown(given: JsonObject, known: JsonObject) -> str:
    extra = ", ".join([name[:60] for name in given if name not in known][:3])
    return f"{extra}: no such argument; the arguments are: {', '.join(known) or 'none'}"


def _choices(wanted: JsonValue) -> str:
    return ", ".join(orjson.dumps(choice).decode() for choice in wanted) if isinstance(wanted, list) else "a set"


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _path(error: "ValidationError") -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return text.lstrip(".") or "arguments"


def _type_words(wanted: JsonValue) -> str:
    kinds = wanted if isinstance(wanted, list) else [wanted]
    return " or ".join(_TYPE_WORDS.get(str(kind), str(kind)) for kind in kinds)


def _value_words(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f'the string "{value[:60]}{"…" if len(value) > 60 else ""}"'
        case int() | float():
            return f"the number {_shown_number(value)}"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "an object"


def _shown_number(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) or value.bit_length() > 200 else str(value)


# --- sentences ---


def _safe_text(text: str) -> str:
    clean = without_surrogates(text[: 2 * _LONGEST_MESSAGE])
    return clean if len(clean) <= _LONGEST_MESSAGE else clean[: _LONGEST_MESSAGE - 1] + "…"
