"""One leak as it is read: whether it is certain yet, and the calls found in it."""

import json
import re
from collections.abc import Mapping, Sequence

from signalbox.chat.calls.arguments import read_arguments
from signalbox.chat.leaks.values import Value, typed
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import RawCall

# A leak longer than this is hidden like any other, but no call is made of it.
MOST = 64 * 1024

_INDEX = re.compile(r":\d+$")
_BROKEN_NAME = re.compile(r'"name"\s*:\s*"([\w.\-:/]+)"')
_BROKEN_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*(.*)\}', re.DOTALL)


class Leak:
    """What a dialect tells about the text that it reads."""

    def __init__(self, schemas: Mapping[str, JsonObject], found: list[RawCall]) -> None:
        self.certain = False
        self.size = 0
        self._schemas = schemas
        self._found = found

    @property
    def is_too_long(self) -> bool:
        """Whether nothing of it is kept any more."""
        return self.size > MOST

    def knows(self, name: str) -> bool:
        """Whether a tool of this name was offered."""
        return _bare(name) in self._schemas

    def be_certain(self) -> None:
        """From here on it is markup, whatever follows; before, it may be prose about markup."""
        self.certain = True

    def call(self, name: str, arguments: str) -> None:
        """Note a call whose arguments are JSON already."""
        if not self.is_too_long:
            self._found.append(RawCall(None, _bare(name), arguments, *read_arguments(arguments)))

    def call_of(self, name: str, values: Sequence[Value]) -> None:
        """Note a call whose arguments came one by one."""
        arguments = {value.name: typed(value, self._schemas.get(_bare(name), {})) for value in values}
        self.call(name, json.dumps(arguments, ensure_ascii=False))

    def call_in(self, text: str) -> None:
        """Note the call, or the list of calls, that a JSON text describes.

        A text that is not JSON is a call all the same when its name can be read: the model is told what is wrong with
        the arguments, as with any other call.
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
    """Take off what Kimi puts around a name: `functions.search_web:0`."""
    return _INDEX.sub("", name.strip()).removeprefix("functions.")
