"""What a page reports while it loads: errors of its console, and files that it could not load."""

import asyncio
from typing import cast

from signalbox.core.messages import JsonObject, JsonValue

MOST = 20
_LONGEST = 300
_NO_NETWORK = "screenshots have no network; only files of the conversation are loaded"


class PageLog:
    """Collects the events of one page. `origin` is the part of its addresses that is left out."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._urls: dict[str, str] = {}
        self.loaded = asyncio.Event()
        self.dialog_opened = asyncio.Event()
        self.console: list[str] = []
        self.not_loaded: list[str] = []

    def on_event(self, method: str, params: JsonObject) -> None:
        """Handle an event of the DevTools protocol."""
        match method:
            case "Page.loadEventFired":
                self.loaded.set()
            case "Page.javascriptDialogOpening":
                self.dialog_opened.set()
            case "Runtime.exceptionThrown":
                details = _object(params, "exceptionDetails")
                described = _text(_object(details, "exception"), "description")
                self._say(described or _text(details, "text"))
            case "Runtime.consoleAPICalled" if params.get("type") in ("error", "warning", "assert"):
                self._say(f"{params['type']}: {_joined(params.get('args'))}")
            case "Log.entryAdded":
                entry = _object(params, "entry")
                if entry.get("level") == "error" and entry.get("source") != "network":
                    self._say(_text(entry, "text"))
            case "Network.requestWillBeSent":
                self._urls[_text(params, "requestId")] = _text(_object(params, "request"), "url")
            case "Network.webSocketCreated":
                self._miss(_text(params, "url"), "")
            case "Network.responseReceived":
                response = _object(params, "response")
                status = response.get("status")
                if isinstance(status, int) and status >= 400:
                    self._miss(_text(response, "url"), "there is no such file")
            case "Network.loadingFailed" if params.get("canceled") is not True:
                self._miss(self._urls.get(_text(params, "requestId"), ""), _text(params, "errorText"))
            case _:
                pass

    def _say(self, text: str) -> None:
        self._add(self.console, text.replace(self._origin, ""))

    def _miss(self, url: str, reason: str) -> None:
        if url.startswith(("data:", "blob:")) or not url:
            return
        is_ours = url.startswith(f"{self._origin}/")
        shown = url.removeprefix(f"{self._origin}/")[:200]
        if shown != "favicon.ico":
            self._add(self.not_loaded, f"{shown}: {reason if is_ours else _NO_NETWORK}")

    @staticmethod
    def _add(texts: list[str], text: str) -> None:
        shown = text.strip()[:_LONGEST]
        if shown and shown not in texts and len(texts) < MOST:
            texts.append(shown)


def _object(value: JsonObject, name: str) -> JsonObject:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: JsonObject, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _joined(arguments: JsonValue) -> str:
    """Return the arguments of `console.error` as text."""
    given = [cast(JsonObject, one) for one in arguments if isinstance(one, dict)] if isinstance(arguments, list) else []
    return " ".join(str(one["value"]) if "value" in one else _text(one, "description") for one in given)
