"""The trials of a set: each case with each model and loop, as often as the set repeats it."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path, PurePosixPath

import msgspec

from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.security.image_types import IMAGE_HEAD, image_type
from signalbox.evals.confined import Unreadable, read_confined, read_confined_text
from signalbox.evals.expectations import Expectations
from signalbox.evals.set_file import Case, Defaults, EvalSet

_canonical = msgspec.json.Encoder(order="sorted").encode


class CaseError(ValueError):
    """A field of a case that cannot be used: its path in the case, and what is wrong with it."""

    def __init__(self, path: Sequence[str | int], words: str) -> None:
        super().__init__(words)
        self.path, self.words = path, words


@dataclass(frozen=True, slots=True)
class Question:
    """A case as it is asked: the request without its model, and what is expected."""

    case: Case
    body: JsonObject = field(repr=False)
    expect: Expectations
    digest: str

    @property
    def has_conversation(self) -> bool:
        """Whether each attempt needs a conversation, which has the files."""
        return self.case.conversation or bool(self.expect.files)


@dataclass(frozen=True, slots=True)
class Trial:
    """A question to one model on one loop; `loop` is None where the server chooses. `digest` identifies all of it."""

    question: Question
    model: str
    loop: LoopName | None
    repeat: int
    digest: str

    @property
    def body(self) -> JsonObject:
        """The request."""
        return {"model": self.model, **self.question.body}


def question_of(case: Case, defaults: Defaults, folder: Path) -> Question:
    """Build the request of a case, with its files; raises CaseError."""
    body: JsonObject = {**defaults.params, **case.params}
    system = _system(case, folder, ()) if _sets_system(case) else _system(defaults, folder, ("defaults",))
    if system:
        body["system"] = system
    tools = case.tools if case.tools is not None else defaults.tools
    if tools is not None:
        body["tools"] = list[JsonValue](tools)
    body["messages"] = _messages(case, folder)
    expect = case.expect.over(defaults.expect)
    return Question(case, body, expect, _digest(case, body, expect))


def trials_of(eval_set: EvalSet, questions: Sequence[Question]) -> Iterator[Trial]:
    """Yield every trial, the repetitions of a trial one after another."""
    for question in questions:
        case = question.case
        loops: Sequence[LoopName | None] = case.loops or eval_set.loops or [None]
        for model in case.models or eval_set.models:
            for loop in loops:
                for repeat in range(1, (case.repeat or eval_set.repeat) + 1):
                    described = f"{question.digest} {model} {loop} {repeat}".encode()
                    yield Trial(question, model, loop, repeat, sha256(described).hexdigest()[:32])


def number_of_trials(eval_set: EvalSet) -> int:
    """Count the trials of a set."""
    return sum(
        len(case.models or eval_set.models)
        * len(case.loops or eval_set.loops or [None])
        * (case.repeat or eval_set.repeat)
        for case in eval_set.cases
    )


def _digest(case: Case, body: JsonObject, expect: Expectations) -> str:
    """Return an id that changes with everything that can change a result."""
    described = [case.id, body, case.conversation, expect.model_dump(mode="json")]
    return sha256(_canonical(described)).hexdigest()


# --- the request ------------------------------------------------------------------------------------------------------


def _sets_system(case: Case) -> bool:
    return case.system is not None or case.system_file is not None


def _system(asking: Case | Defaults, folder: Path, path: Sequence[str]) -> str | None:
    if asking.system_file is None:
        return asking.system
    try:
        return read_confined_text(folder, asking.system_file)
    except Unreadable as error:
        raise CaseError((*path, "system_file"), str(error)) from None


def _messages(case: Case, folder: Path) -> JsonValue:
    """Return the conversation, whose last question has the images and files."""
    attachments = [*_attachments(case, folder)]
    if case.messages is None:
        return [{"role": "user", "content": _content(_prompt(case, folder), attachments)}]
    messages: list[JsonValue] = [one.model_dump(mode="json", exclude_unset=True) for one in case.messages]
    if attachments:
        last = messages[-1]
        if not isinstance(last, dict) or last["role"] != "user":
            raise CaseError(("messages",), "the last message must be a user's if the case has images or files")
        messages[-1] = {**last, "content": _content(last["content"], attachments)}
    return messages


def _prompt(case: Case, folder: Path) -> str:
    if case.prompt_file is None:
        return case.prompt or ""
    try:
        prompt = read_confined_text(folder, case.prompt_file)
    except Unreadable as error:
        raise CaseError(("prompt_file",), str(error)) from None
    if not prompt.strip():
        raise CaseError(("prompt_file",), f"{case.prompt_file!r} is empty")
    return prompt


def _content(content: JsonValue, attachments: Sequence[JsonValue]) -> JsonValue:
    if not attachments:
        return content
    parts: list[JsonValue] = [{"type": "text", "text": content}] if isinstance(content, str) else []
    if isinstance(content, list):
        parts = [*content]
    return [*parts, *attachments]


def _attachments(case: Case, folder: Path) -> Iterator[JsonValue]:
    for place, name in enumerate(case.images):
        data = _read(folder, name, ("images", place))
        kind = image_type(data[:IMAGE_HEAD])
        if kind is None:
            raise CaseError(("images", place), f"{name!r} is not a PNG, JPEG, WebP, GIF or AVIF image")
        yield {"type": "image_url", "image_url": {"url": _data_url(f"image/{kind}", data)}}
    for place, name in enumerate(case.files):
        data = _read(folder, name, ("files", place))
        url = _data_url(guess_type(name)[0] or "application/octet-stream", data)
        yield {"type": "file", "file": {"filename": PurePosixPath(name).name, "file_data": url}}


def _read(folder: Path, name: str, path: Sequence[str | int]) -> bytes:
    try:
        return read_confined(folder, name)
    except Unreadable as error:
        raise CaseError(path, str(error)) from None


def _data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(data).decode()}"
