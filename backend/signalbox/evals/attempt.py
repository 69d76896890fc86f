"""One attempt of a trial: asks the server, reads the files of the conversation and checks the answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from typing import TypeVar

from msgspec import UNSET, UnsetType

from signalbox.core.messages import JsonObject
from signalbox.encoders.v1_whole import ChatAnswer
from signalbox.evals.checks import Files, calls_of, check_answer
from signalbox.evals.client import EvalClient, FileEntry, Refusal, ServerUnusable
from signalbox.evals.results import FoundFile, Outcome, Result
from signalbox.evals.trials import Trial

# Endings of a run that failed before it could answer.
_BROKEN = frozenset({"error", "interrupted", "cancelled"})
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A result, and whether and when another attempt may do better."""

    result: Result
    retryable: bool = False
    retry_after: float | None = None


async def attempt_trial(trial: Trial, number: int, client: EvalClient, timeout: float) -> Attempt:  # noqa: ASYNC109 - of a set
    """Execute a trial once; raises ServerUnusable."""
    conversation_id = f"eval-{trial.digest[:12]}-{token_hex(6)}" if trial.question.has_conversation else None
    body: JsonObject = dict(trial.body)
    if conversation_id is not None:
        body["conversation_id"] = conversation_id
    started = datetime.now(UTC)
    base = _base(trial, number, started, conversation_id)
    try:
        async with asyncio.timeout(timeout):
            answer = await client.ask(body, trial.loop)
    except TimeoutError:
        refusal = Refusal(f"No answer within {timeout:g} seconds.", "EVAL_TIMEOUT", retryable=True)
        return _refused(base, refusal)
    if isinstance(answer, Refusal):
        return _refused(base, answer)
    _check_loop(trial, answer)
    files = await _files(trial, conversation_id, answer, client)
    if isinstance(files, Refusal):
        return _refused(base, files)
    return await _judged(trial, base, answer, *files)


def _base(trial: Trial, number: int, started: datetime, conversation_id: str | None) -> Callable[..., Result]:
    """Return what makes a result of this attempt."""

    def made(outcome: Outcome, **fields: object) -> Result:
        return Result(
            digest=trial.digest,
            case=trial.question.case.id,
            model=trial.model,
            loop=trial.loop,
            repeat=trial.repeat,
            attempt=number,
            outcome=outcome,
            at=started.isoformat(timespec="milliseconds"),
            conversation_id=conversation_id,
            **fields,  # pyright: ignore[reportArgumentType] - the fields below
        )

    return made


def _refused(base: Callable[..., Result], refusal: Refusal) -> Attempt:
    result = base("error", error=refusal.message, code=refusal.code)
    return Attempt(result, refusal.retryable, refusal.retry_after)


def _check_loop(trial: Trial, answer: ChatAnswer) -> None:
    """Raise ServerUnusable if the run used another loop: the results would be about the wrong one."""
    if trial.loop is not None and answer.loop is not UNSET and answer.loop != trial.loop:
        raise ServerUnusable(
            f"The set asks for the loop {trial.loop}, but the server used {answer.loop}. Start the server with "
            "SIGNALBOX_ALLOW_LOOP_HEADER=true and without TOOL_LOOP_V2=false, or remove loops from the set."
        )


async def _files(
    trial: Trial, conversation_id: str | None, answer: ChatAnswer, client: EvalClient
) -> tuple[list[FileEntry], Files] | Refusal:
    """Read the list of files, and the texts of those that are checked."""
    expected = trial.question.expect.files
    if conversation_id is None or not expected:
        return [], Files()
    listed = await client.files(conversation_id, answer.run_id)
    if isinstance(listed, Refusal):
        return listed
    paths = frozenset(entry.path for entry in listed)
    texts: dict[str, str] = {}
    for one in expected:
        if one.path in paths and one.path not in texts and (one.contains or one.not_contains or one.matches):
            content = await client.file(conversation_id, answer.run_id, one.path)
            if isinstance(content, Refusal):
                return content
            texts[one.path] = content.decode("utf-8", "replace")
    return listed, Files(paths, texts)


async def _judged(
    trial: Trial, base: Callable[..., Result], answer: ChatAnswer, listed: list[FileEntry], files: Files
) -> Attempt:
    """Check an answer. A run that broke, although it should not, is an error: it says nothing about the model."""
    expect = trial.question.expect
    checks = await check_answer(expect, answer, files)
    is_broken = answer.status in _BROKEN and answer.status != expect.status
    passed = all(check.ok for check in checks)
    outcome: Outcome = "error" if is_broken else "pass" if passed else "fail"
    usage = _set(answer.usage)
    result = base(
        outcome,
        checks=checks,
        error=_set(answer.error),
        run_id=answer.run_id,
        status=answer.status,
        code=_set(answer.code),
        served_loop=_set(answer.loop),
        served_model=_set(answer.model),
        text=answer.text,
        calls=calls_of(answer),
        files=[FoundFile(entry.path, entry.size) for entry in listed],
        warnings=[str(_set(warning.code) or warning.message) for warning in answer.warnings],
        steps=_set(answer.steps),
        cost=_set(answer.cost),
        input_tokens=usage.input if usage else None,
        output_tokens=usage.output if usage else None,
        duration_ms=_set(answer.duration_ms),
        first_token_ms=_set(answer.first_token_ms),
        simulated=answer.simulated is True,
    )
    return Attempt(result, is_broken and answer.retryable is True, _set(answer.retry_after))


def _set(value: Value | UnsetType) -> Value | None:
    return None if isinstance(value, UnsetType) else value
