"""Joins the previews of calls, and puts them into the arguments of the announced calls."""

import json
from dataclasses import replace
from typing import Any

from signalbox_client.events import Call, Event, Preview


class Previews:
    """The previews of one run. `texts` has the arguments so far, by call id and JSON Pointer, such as `/content`."""

    def __init__(self) -> None:
        self.texts: dict[str, dict[str, str]] = {}
        self._keys: dict[str, str] = {}

    def add(self, event: Event) -> None:
        """Add the text of a preview. Call this with each event of the run, in order; other events are ignored."""
        if not isinstance(event, Preview):
            return
        key = event.key or self._keys.get(event.id)
        if event.withdrawn:
            self.texts.pop(event.id, None)
        elif key is not None:
            self._keys[event.id] = key
            texts = self.texts.setdefault(event.id, {})
            texts[key] = texts.get(key, "") + event.text

    def whole(self, call: Call) -> Call:
        """Return an announced call with its whole arguments."""
        texts = {key: text for key, text in self.texts.get(call.id, {}).items() if key in call.previewed}
        if not texts:
            return call
        arguments = json.loads(call.arguments)
        for pointer, text in texts.items():
            *path, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
            inside: Any = arguments
            for token in path:
                inside = inside[int(token) if isinstance(inside, list) else token]
            inside[int(last) if isinstance(inside, list) else last] = text
        return replace(call, arguments=json.dumps(arguments, ensure_ascii=False))
