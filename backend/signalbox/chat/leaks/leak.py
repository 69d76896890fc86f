"""One leaked call while it is read: whether it is certain to be markup, and the calls found in it."""

import json
import re
from collections.abc import Mapping, Sequence

from signalbox.chat.calls.arguments import read_arguments
from signalbox.chat.leaks.values import Value, typed
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import RawCall

# A longer leak is removed from the text too, but its calls are dropped.
MAX_LENGTH = 64 * 1024

_INDEX = re.compile(r":\d+$")
_BROKEN_NAME = re.compile(r'"name"\s*:\s*"([\w.\-:/]+)"')
_BROKEN_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*(.*)\}', re.DOTALL)


class Leak:
    """The state of one leak, which a dialect updates while it reads."""

    def __init__(self, schemas: Mapping[str, JsonObject], found: list[RawCall]) -> None:
        self.certain = False
        self.size = 0
        self._schemas = schemas
        self._found = found

    @property
    def is_too_long(self) -> bool:
        """Whether it exceeds the limit; its content is then dropped."""
        return self.size > MAX_LENGTH

    def knows(self, name: str) -> bool:
        """Whether a tool of this name was offered."""
        return _bare(name) in self._schemas

    def be_certain(self) -> None:
        """Mark the text as markup; until then it may be prose about markup."""
        self.certain = True

    def call(self, name: str, arguments: str) -> None:
        """Add a call whose arguments are JSON."""
        if not self.is_too_long:
            self._found.append(RawCall(None, _bare(name), arguments, *read_arguments(arguments)))

    def call_of(self, name: str, values: Sequence[Value]) -> None:
        """Add a call whose arguments were written one by one."""
        arguments = {value.name: typed(value, self._schemas.get(_bare(name), {})) for value in values}
        self.call(name, json.dumps(arguments, ensure_ascii=False))

    def call_in(self, text: str) -> None:
        """Add the call, or the list of calls, that a JSON text describes.

        Invalid JSON is a call too if its name can be read: the model then gets an error about the arguments, as for any
        other call.
        """
        _, value = read_arguments(text)
        for described in value if isinstance(value, list) else [value]:
            if isinstance(described, dict):
                self._described(described)
        if value is None and (name := _BROKEN_NAME.search(text)):
            arguments = _BROKEN_ARGUMENTS.search(text)
            self.call(name[1], arguments[1] if arguments else text)

    def _described(self, value: JsonObject) -> None:
        inner = value.get("function")
        described = inner if isinstance(inner, dict) else value
        name = described.get("name")
        arguments: JsonValue = described.get("arguments", described.get("parameters", ""))
        if isinstance(name, str) and name:
            self.call(name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False))


def _bare(name: str) -> str:
    """Strip what Kimi adds to a name: `functions.search_web:0`."""
    return _INDEX.sub("", name.strip()).removeprefix("functions.")
