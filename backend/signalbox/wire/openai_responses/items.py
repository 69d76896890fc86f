"""Finished output items to parts: what was not streamed before, sources and images."""

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import HiddenReasoning, ReasoningDelta, RefusalDelta, StreamPart, TextDelta
from signalbox.wire.openai_responses.calls import Calls
from signalbox.wire.openai_responses.fields import index_of, object_of, objects_of, text_of
from signalbox.wire.openrouter.attachments import Attachments

# The place of a text in the response: its kind, the position of its item and its position in the item.
Place = tuple[str, int, int]
# By the kind of text. Summaries and reasoning texts are different texts, so a server may send both.
TEXTS: dict[str, type[TextDelta | RefusalDelta | ReasoningDelta]] = {
    "output_text": TextDelta,
    "refusal": RefusalDelta,
    "summary_text": ReasoningDelta,
    "reasoning_text": ReasoningDelta,
}
_OFFSETS = ("start_index", "end_index")
_MOST_ITEMS = 2**31


class Output:
    """The output items of one response, and which of their texts have been streamed."""

    def __init__(self) -> None:
        self.items: list[JsonObject] = []
        self.calls = Calls()
        self._streamed: set[Place] = set()
        self._place: Place | None = None
        self._named: dict[str, int] = {}
        self._starts: dict[tuple[int, int], int] = {}
        self._length = 0
        self._attachments = Attachments()

    def position_of(self, event: JsonObject) -> int:
        """Return the position of the item that an event is about.

        llama.cpp sends no positions. Its calls have no id either, and their pieces name the call: so the items are
        numbered by their names, below zero.
        """
        index = event.get("output_index")
        if type(index) is int and 0 <= index < _MOST_ITEMS:
            return index
        item = object_of(event.get("item"))
        name = next((name for name in (event.get("item_id"), item.get("id"), item.get("call_id")) if name), None)
        return self._named.setdefault(name, -1 - len(self._named)) if isinstance(name, str) else 0

    def place_of(self, kind: str, event: JsonObject) -> Place:
        """Return the place of the text that an event is about; summaries have a separate index."""
        inner = event.get("summary_index" if kind == "summary_text" else "content_index")
        return (kind, self.position_of(event), index_of(inner))

    def piece(self, place: Place, text: str, out: list[StreamPart]) -> None:
        """Append a piece of a text."""
        if place != self._place:
            self._begin(place)
        if text:
            if place[0] == "output_text":
                self._length += len(text)
            out.append(TEXTS[place[0]](text))

    def whole(self, place: Place, text: str, out: list[StreamPart]) -> None:
        """Append a whole text, unless it was streamed."""
        if place not in self._streamed:
            self.piece(place, text, out)

    def cite(self, annotation: JsonValue, at: int, inner: int, out: list[StreamPart]) -> None:
        """Append a citation; its offsets count from the start of its text, those of the part from the answer's."""
        fields = annotation if isinstance(annotation, dict) else {}
        shift = self._starts.get((at, inner), 0)
        moved = {name: offset + shift for name in _OFFSETS if type(offset := fields.get(name)) is int}
        self._attachments.decode({"annotations": [{**fields, **moved}]}, out)

    def finish(self, item: JsonObject, at: int, out: list[StreamPart]) -> None:
        """Append what a finished item adds, and keep the item."""
        self.items.append(item)
        match item.get("type"):
            case "message":
                self._finish_message(item, at, out)
            case "reasoning":
                self._finish_reasoning(item, at, out)
            case "function_call":
                self.calls.finish(item, at, out)
            case "image_generation_call":
                if result := item.get("result"):
                    self._attachments.image({"b64_json": result}, out)
            case "code_interpreter_call":
                for output in objects_of(item.get("outputs")):
                    if output.get("type") == "image":
                        self._attachments.image(output, out)
            case _:  # server tools and items of later versions have no part; they are only kept
                pass

    def _begin(self, place: Place) -> None:
        self._place = place
        if place not in self._streamed and place[0] == "output_text":
            self._starts[place[1:]] = self._length
        self._streamed.add(place)

    def _finish_message(self, item: JsonObject, at: int, out: list[StreamPart]) -> None:
        for inner, part in enumerate(objects_of(item.get("content"))):
            kind = part.get("type")
            if kind == "refusal":
                self.whole(("refusal", at, inner), text_of(part.get("refusal")), out)
            elif kind == "output_text":
                self.whole(("output_text", at, inner), text_of(part.get("text")), out)
                for annotation in objects_of(part.get("annotations")):
                    self.cite(annotation, at, inner, out)

    def _finish_reasoning(self, item: JsonObject, at: int, out: list[StreamPart]) -> None:
        is_hidden = True
        for kind, field in (("summary_text", "summary"), ("reasoning_text", "content")):
            for inner, part in enumerate(objects_of(item.get(field))):
                self.whole((kind, at, inner), text_of(part.get("text")), out)
                is_hidden = False
        if is_hidden and item.get("encrypted_content"):
            out.append(HiddenReasoning())
