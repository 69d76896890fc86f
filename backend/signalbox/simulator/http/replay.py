"""Recorded answers instead of simulated ones: the recorded bytes, status, content type and chunk sizes.

A recording is `NAME.sse` or `NAME.body.json`; its metadata is in `NAME.json`. It is selected by the header
`x-simulator-recording: NAME` or `x-simulator-chain: ID`, by the model ids `replay/NAME` and `replay/ID`, or by the
recorded model. Within a chain, the number of assistant messages in the request selects the step.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ..catalog import Model
from ..json_values import as_object, as_objects
from .incoming import text_of

DIALECTS = ("openrouter-chat", "openai-chat")
SUFFIXES = (".sse", ".body.json")


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded exchange; the body is loaded on demand."""

    stem: str
    path: Path
    model: str
    status: int
    content_type: str
    chunk_sizes: tuple[int, ...] | None
    chain: str | None = None
    step: int = 1
    messages: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    def writes(self) -> list[bytes]:
        """Return the recorded network writes of the body, or one per frame if they are unknown."""
        body = self.path.read_bytes()
        if self.chunk_sizes is None:
            return frames_of(body) if self.path.suffix == ".sse" else [body]
        found: list[bytes] = []
        at = 0
        for size in self.chunk_sizes:
            found.append(body[at : at + size])
            at += size
        return [write for write in (*found, body[at:]) if write]

    @property
    def answered(self) -> int:
        """Return the number of assistant messages in the recorded request: its position in the conversation."""
        return assistants(self.messages) if self.messages else self.step - 1


def frames_of(body: bytes) -> list[bytes]:
    """Cut a body after each blank line."""
    return re.findall(rb"(?s).+?(?:\r?\n\r?\n|\Z)", body)


def assistants(messages: tuple[dict[str, Any], ...] | list[dict[str, Any]]) -> int:
    """Count the assistant messages."""
    return sum(1 for message in messages if message.get("role") == "assistant")


def load(path: Path) -> "Recordings":
    """Load a recording, or every chat recording of a folder."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
    elif path.is_file():
        files = [path]
    else:
        raise FileNotFoundError(f"no recording at {path}")
    found = [load_recording(file) for file in files if not path.is_dir() or _dialect(file) in DIALECTS]
    if not found:
        raise FileNotFoundError(f"no chat recordings (*.sse, *.body.json) in {path}")
    return Recordings(tuple(found))


def stem_of(file: Path) -> str:
    """Return the name of a recording without its extension."""
    return next((file.name.removesuffix(suffix) for suffix in SUFFIXES if file.name.endswith(suffix)), file.stem)


def _meta(file: Path) -> dict[str, Any]:
    beside = file.with_name(stem_of(file) + ".json")
    return as_object(orjson.loads(beside.read_bytes())) if beside.is_file() else {}


def _dialect(file: Path) -> str:
    # The dialect is the first word of the file name; without a known one, the file counts as a chat stream.
    word = file.name.partition("__")[0] if "__" in file.name else DIALECTS[0]
    return word if word in DIALECTS else str(_meta(file).get("dialect"))


def load_recording(file: Path) -> Recording:
    """Load the metadata of one recording."""
    meta, streamed = _meta(file), file.name.endswith(".sse")
    chain = as_object(meta.get("chain"))
    request = as_object(meta.get("request"))
    sizes = meta.get("chunk_sizes")
    return Recording(
        stem=stem_of(file),
        path=file,
        model=str(meta.get("model") or request.get("model") or f"replay/{stem_of(file)}"),
        status=meta.get("http_status") or 200,
        content_type=meta.get("content_type") or ("text/event-stream" if streamed else "application/json"),
        chunk_sizes=tuple(sizes) if sizes else None,
        chain=chain.get("id"),
        step=chain.get("step", 1),
        messages=tuple(as_objects(request.get("messages"))),
    )


@dataclass(frozen=True, slots=True)
class Recordings:
    """The recordings that are served."""

    recordings: tuple[Recording, ...]

    def pick(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Recording | None:
        """Return the recording that a request selects."""
        messages = as_objects(body.get("messages"))
        model = str(body.get("model"))
        name = headers.get("x-simulator-recording") or headers.get("x-simulator-chain") or model.removeprefix("replay/")
        for recording in self.recordings:
            if recording.stem == name:
                return recording
        chain = [recording for recording in self.recordings if recording.chain == name]
        return step_of(chain, messages) if chain else self._by_model(model, messages)

    def _by_model(self, model: str, messages: list[dict[str, Any]]) -> Recording | None:
        """Return the recording with the same question, else the first."""
        same = [recording for recording in self.recordings if recording.model == model]
        if not same:
            return None
        asked = _question(messages)
        matching = [recording for recording in same if asked and _question(recording.messages) == asked]
        picked = (matching or same)[0]
        chain = [recording for recording in same if recording.chain and recording.chain == picked.chain]
        return step_of(chain, messages) if chain else picked

    def listed(self) -> list[Model]:
        """Return the catalogue: the recorded models, then every recording and chain by name."""
        models = [recording.model for recording in self.recordings]
        stems = [f"replay/{recording.stem}" for recording in self.recordings]
        chains = [f"replay/{recording.chain}" for recording in self.recordings if recording.chain]
        ids = dict.fromkeys([*models, *chains, *stems])
        return [Model(name, f"Recorded: {name}", "0", "0", images=True) for name in ids]


def _question(messages: tuple[dict[str, Any], ...] | list[dict[str, Any]]) -> str:
    return next((text_of(message) for message in messages if message.get("role") == "user"), "")


def step_of(chain: list[Recording], messages: list[dict[str, Any]]) -> Recording:
    """Return the first step of a chain with at least as many assistant messages as the request."""
    steps = sorted(chain, key=lambda recording: recording.step)
    answered = assistants(messages) + (steps[0].answered if assistants(messages) < steps[0].answered else 0)
    return next((recording for recording in steps if recording.answered >= answered), steps[-1])
