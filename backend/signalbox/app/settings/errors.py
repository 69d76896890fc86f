"""Errors of settings: invalid values and unknown names, in sentences that say what to do."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from pydantic_core import ErrorDetails

from signalbox.app.installation import where_settings_are_listed

FILE_OR_ENVIRONMENT = ".env or in the environment"
_CODE = "the call of Settings"
# Longer values are not quoted in a message: one may be a key in the wrong line.
_LONGEST_QUOTED = 30
_WHOLE, _NUMBER, _BOOL = "must be a whole number", "must be a number", "must be true or false"
_MESSAGES = {
    **dict.fromkeys(("int_parsing", "int_from_float", "int_type"), _WHOLE),
    **dict.fromkeys(("float_parsing", "float_type"), _NUMBER),
    **dict.fromkeys(("bool_parsing", "bool_type"), _BOOL),
    "string_type": "must be a string",
    "path_type": "must be a path",
    "tuple_type": "must be a list of strings",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "string_pattern_mismatch": "must be debug, info, warning or error",
}


class SettingsError(Exception):
    """A setting that cannot be used; the message names it, the reason and what to do."""


class InvalidValues(SettingsError):
    """Settings with invalid values: `by_name` has a sentence for each, without the advice."""

    def __init__(self, by_name: Mapping[str, str], where: str = FILE_OR_ENVIRONMENT) -> None:
        self.by_name = by_name
        advice = f"Correct {'it' if len(by_name) == 1 else 'them'} in {where}."
        super().__init__(" ".join([*by_name.values(), advice]))


def place_of(invalid: Iterable[str], given: Iterable[str]) -> str:
    """Return where to correct settings, some of which were `given` in code."""
    in_code = {name.lower() for name in given}
    places = {name in in_code for name in invalid}
    if places == {True}:
        return _CODE
    return FILE_OR_ENVIRONMENT if places == {False} else f"{_CODE}, in {FILE_OR_ENVIRONMENT}"


def sentence_of(name: str, error: ErrorDetails, *, is_public: bool) -> str:
    """Describe an invalid value; quote it if it is public: it cannot contain a secret."""
    template = _MESSAGES.get(error["type"])
    reason = template.format(**error.get("ctx", {})) if template else error["msg"].removeprefix("Value error, ")
    value = error["input"]
    is_shown = isinstance(value, str) and len(value) <= _LONGEST_QUOTED and value.isprintable() and is_public
    shown = f' is "{value}" and' if is_shown else ""
    return f"The setting {name.upper()}{shown} cannot be used: {reason}{'' if reason.endswith('?') else '.'}"


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise SettingsError for a name in code that is no setting, with the nearest one."""
    names = [*known]
    for name in given:
        if name.lower() in names:
            continue
        near = get_close_matches(name.lower(), names, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"All settings are listed in {where_settings_are_listed()}."
        raise SettingsError(f"{name} is not a setting. {hint}")
