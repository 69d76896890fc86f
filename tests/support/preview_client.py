"""A client that joins the previews of calls and puts them into the announced arguments."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class PreviewClient:
    """`texts` are the joined pieces by call and key; `calls` are the announced calls with their whole arguments."""

    texts: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    calls: dict[str, Any] = field(default_factory=dict[str, Any])
    withdrawn: list[str] = field(default_factory=list[str])
    _keys: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, events: Iterable[dict[str, Any]]) -> "PreviewClient":
        for event in events:
            if event["type"] == "preview":
                self._preview(event)
            for call in event.get("calls", ()):
                self.calls[call["id"]] = self._whole(call)
        return self

    def _preview(self, event: dict[str, Any]) -> None:
        call_id = event["id"]
        if event.get("withdrawn"):
            self.withdrawn.append(call_id)
            self.texts.pop(call_id)
            return
        key = self._keys[call_id] = event.get("key") or self._keys[call_id]
        texts = self.texts.setdefault(call_id, {})
        texts[key] = texts.get(key, "") + event["text"]

    def _whole(self, call: dict[str, Any]) -> Any:
        arguments = json.loads(call["arguments"])
        for pointer, size in call.get("previewed", {}).items():
            *path, last = pointer[1:].split("/")
            inside = arguments
            for token in path:
                inside = inside[int(token) if isinstance(inside, list) else token]
            assert inside[last] == ""
            inside[last] = self.texts[call["id"]][pointer]
            assert len(inside[last]) == size
        return arguments
