"""Reads an eval set; an error names the line and the field."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel, ValidationError

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject
from signalbox.evals.expectations import Expectations, ExpectedArguments, ExpectedFile, ExpectedTools
from signalbox.evals.set_file import Case, Defaults, EvalSet
from signalbox.evals.trials import CaseError, Question, Trial, number_of_trials, question_of, trials_of
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.intakes.validation import fault_in
from signalbox.services.toml_lines import TomlLines

_LARGEST = 4 * 1024 * 1024
_MOST_TRIALS = 100_000
# The tables of a set by the field that contains them.
_TABLES: dict[str, type[BaseModel]] = {
    "cases": Case,
    "defaults": Defaults,
    "expect": Expectations,
    "tools": ExpectedTools,
    "arguments": ExpectedArguments,
    "files": ExpectedFile,
}
# The words of pydantic and JSON, and those of TOML.
_WORDS = (
    (re.compile(r"Input should be a valid dictionary( or instance of \w+)?"), "must be a table"),
    (re.compile(r"Input should be a valid list"), 'must be a list, such as ["…"]'),
    (re.compile(r"Input should be a valid "), "must be a "),
    (re.compile(r"Input should be "), "must be "),
    (re.compile(r" after validation, not 0"), ""),
    (re.compile(r"^Field required"), "is missing"),
)


class SetError(ValueError):
    """The set cannot be used; the message names the file, the line, the field and what to do."""


@dataclass(frozen=True, slots=True)
class LoadedSet:
    """A set with its trials."""

    name: str
    settings: EvalSet
    questions: tuple[Question, ...]
    trials: tuple[Trial, ...]


def load_set(path: Path) -> LoadedSet:
    """Read a set and the files that it names; raises SetError."""
    text = _text_of(path)
    lines = _Lines(path.name, text)
    settings = lines.validated(text)
    if (count := number_of_trials(settings)) > _MOST_TRIALS:
        words = f"{path.name} has {count:,} runs, but {_MOST_TRIALS:,} are the most."
        raise SetError(f"{words} Reduce models, repeat or cases, or divide the set.")
    questions = tuple(lines.question(settings, place, path.parent) for place in range(len(settings.cases)))
    return LoadedSet(settings.name or path.stem, settings, questions, tuple(trials_of(settings, questions)))


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise SetError(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > _LARGEST:
        raise SetError(f"{path.name} is larger than {_LARGEST // 1024 // 1024} MB. Divide it into several sets.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SetError(f"{path.name} is not UTF-8 text.") from None


class _Lines:
    """Validates parts of a set, and names the line of a fault."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._lines = name, TomlLines(text)

    def validated(self, text: str) -> EvalSet:
        """Validate everything except requests."""
        try:
            value: JsonObject = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SetError(f"{self._name} is not TOML: {error}.") from None
        except RecursionError:
            raise SetError(f"{self._name} has lists or tables that are nested too deeply.") from None
        try:
            return EvalSet.model_validate(value)
        except ValidationError as error:
            fault = fault_in(error, value)
            raise self._error(_parts_of(fault.field), _reason(fault), _id_at(value, fault.field)) from None

    def question(self, settings: EvalSet, place: int, folder: Path) -> Question:
        """Build the request of a case, and validate it as the server does."""
        case = settings.cases[place]
        try:
            question = question_of(case, settings.defaults, folder)
        except CaseError as error:
            path = error.path if error.path[0] == "defaults" else ("cases", place, *error.path)
            raise self._error(path, error.words, case.id) from None
        for model in case.models or settings.models:
            body = {"model": model, **question.body}
            try:
                ChatRequest.model_validate(body)
            except ValidationError as error:
                fault = fault_in(error, body)
                path = _path_in_set(case, place, _parts_of(fault.field))
                raise self._error(path, _reason(fault), case.id) from None
        return question

    def _error(self, path: Sequence[str | int], words: str, case_id: str | None) -> SetError:
        which = f" (case {case_id!r})" if case_id else ""
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        at, end = f"{field}{which}: " if field else "", "" if words.endswith("?") else "."
        return SetError(f"{self._name}, line {self._lines.line_of(path)}: {at}{words}{end}")


def _path_in_set(case: Case, place: int, path: Sequence[str | int]) -> Sequence[str | int]:
    """Return where the set has a field of the request."""
    if path[:1] == ["model"]:
        return ("cases", place, "models") if case.models else ("models",)
    if path and path[0] not in ("messages", "system", "tools"):
        return ("cases", place, "params", *path) if path[0] in case.params else ("defaults", "params", *path)
    return ("cases", place, *path)


def _parts_of(field: str | None) -> list[str | int]:
    parts = field.split(".") if field and field != "body" else []
    return [int(part) if part.isdecimal() else part for part in parts]


def _reason(fault: RequestError) -> str:
    """Return the reason without the name of the field, which the line has."""
    field = fault.field or ""
    if fault.code == Code.UNKNOWN_FIELD:
        *tables, name = field.split(".")
        table = next((_TABLES[one] for one in reversed(tables) if one in _TABLES), EvalSet)
        near = get_close_matches(name, table.model_fields, n=1)
        return f"there is no such field; did you mean {near[0]}?" if near else "there is no such field"
    if field == "cases" and fault.message.endswith("valid list."):
        return "write [[cases]], in double brackets"
    reason = re.sub(rf"^(?:{re.escape(field)}|The request): ", "", fault.message.rstrip("."))
    for pattern, words in _WORDS:
        reason = pattern.sub(words, reason)
    return reason[:1].lower() + reason[1:]


def _id_at(value: JsonObject, field: str | None) -> str | None:
    """Return the id of the case that a field belongs to."""
    path, cases = _parts_of(field), value.get("cases")
    if len(path) < 2 or path[0] != "cases" or not isinstance(path[1], int) or not isinstance(cases, list):
        return None
    case = cases[path[1]]
    found = case.get("id") if isinstance(case, dict) else None
    return found if isinstance(found, str) else None
