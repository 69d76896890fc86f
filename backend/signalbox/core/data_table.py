"""The DataTable: a table for people, as the artifact of a tool's result. `docs/data-table.md` describes it.

`just contract` generates the JSON Schema and the TypeScript types from this file. Version 1 grows only by optional
fields. Names and formats are those of the DataTable component of tool-ui, which many assistant-ui pages have.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert

from signalbox.core.messages import JsonObject, JsonValue

VERSION = 1

Primitive: TypeAlias = str | int | float | bool | None
Cell: TypeAlias = Primitive | list[Primitive]
Row: TypeAlias = dict[str, Cell]
Tone: TypeAlias = Literal["success", "warning", "danger", "info", "neutral"]
Decimals: TypeAlias = Annotated[int, Meta(ge=0, le=20)]
Pixels: TypeAlias = Annotated[int, Meta(ge=1, le=1000)]


class _Format(Struct, frozen=True, tag_field="kind", rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """The base of all formats: they have the tag `kind`."""


class TextFormat(_Format, frozen=True, tag="text"):
    """Text, as it is."""


class NumberFormat(_Format, frozen=True, tag="number"):
    """A number. `compact`: 1,200,000 is shown as 1.2M. `showSign`: a plus before positive numbers."""

    decimals: Decimals | UnsetType = UNSET
    unit: str | UnsetType = UNSET
    compact: bool | UnsetType = UNSET
    show_sign: bool | UnsetType = UNSET


class CurrencyFormat(_Format, frozen=True, tag="currency"):
    """An amount in the unit of the currency, an ISO 4217 code: 12.5 with USD is $12.50."""

    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")]
    decimals: Decimals | UnsetType = UNSET


class PercentFormat(_Format, frozen=True, tag="percent"):
    """A share. `basis`: `fraction` (the default) shows 0.25 as 25%, `unit` shows 25 as 25%."""

    decimals: Decimals | UnsetType = UNSET
    show_sign: bool | UnsetType = UNSET
    basis: Literal["fraction", "unit"] | UnsetType = UNSET


class DateFormat(_Format, frozen=True, tag="date"):
    """A date or a time in ISO 8601."""

    date_format: Literal["short", "long", "relative"] | UnsetType = UNSET


class DeltaFormat(_Format, frozen=True, tag="delta"):
    """A change, as a number. `upIsPositive` is true by default; false shows a rise as bad."""

    decimals: Decimals | UnsetType = UNSET
    up_is_positive: bool | UnsetType = UNSET
    show_sign: bool | UnsetType = UNSET


class Status(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How one status is shown; without `label`, the status itself is the label."""

    tone: Tone
    label: str | UnsetType = UNSET


class StatusFormat(_Format, frozen=True, tag="status"):
    """A status; one that `statusMap` does not list is neutral."""

    status_map: dict[str, Status]


class BooleanLabels(Struct, frozen=True, rename={"yes": "true", "no": "false"}, forbid_unknown_fields=True):
    """The words for true and false."""

    yes: str
    no: str


class BooleanFormat(_Format, frozen=True, tag="boolean"):
    """True or false."""

    labels: BooleanLabels | UnsetType = UNSET


class LinkFormat(_Format, frozen=True, tag="link"):
    """A link. `hrefKey` names the field of the row that has the address; without it, the cell is the address."""

    href_key: str | UnsetType = UNSET
    external: bool | UnsetType = UNSET


class BadgeFormat(_Format, frozen=True, tag="badge"):
    """A short text in a badge; `colorMap` gives its tone."""

    color_map: dict[str, Tone] | UnsetType = UNSET


class ArrayFormat(_Format, frozen=True, tag="array"):
    """A list of short values."""

    max_visible: Annotated[int, Meta(ge=1)] | UnsetType = UNSET


class ImageFormat(_Format, frozen=True, tag="image"):
    """An image, by its address at its source. `altKey` names the field that describes the image."""

    width: Pixels | UnsetType = UNSET
    height: Pixels | UnsetType = UNSET
    alt_key: str | UnsetType = UNSET


Format: TypeAlias = (
    TextFormat
    | NumberFormat
    | CurrencyFormat
    | PercentFormat
    | DateFormat
    | DeltaFormat
    | StatusFormat
    | BooleanFormat
    | LinkFormat
    | BadgeFormat
    | ArrayFormat
    | ImageFormat
)


class Column(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """One column: `key` is the field of each row, `label` the heading, `abbr` a shorter heading.

    A column without `format` has text. `priority` decides what cards show first on a narrow screen.
    """

    key: Annotated[str, Meta(min_length=1)]
    label: str
    format: Format | UnsetType = UNSET
    abbr: str | UnsetType = UNSET
    sortable: bool | UnsetType = UNSET
    align: Literal["left", "right", "center"] | UnsetType = UNSET
    width: str | UnsetType = UNSET
    truncate: bool | UnsetType = UNSET
    priority: Literal["primary", "secondary", "tertiary"] | UnsetType = UNSET
    hide_on_mobile: bool | UnsetType = UNSET


class DataTable(Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A table. `surfaceId` is unique; `data` has one object for each row, which may have fields without a column.

    `error` says why there are no rows, or not all.
    """

    surface_id: Annotated[str, Meta(min_length=1, max_length=200)]
    columns: list[Column]
    data: list[Row]
    caption: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


_FIELDS = frozenset({"surfaceId", "columns", "data"})
_NUMBERS = (NumberFormat, CurrencyFormat, PercentFormat, DeltaFormat)
_TEXTS = (DateFormat, StatusFormat, LinkFormat, BadgeFormat)


def is_data_table(value: JsonValue) -> bool:
    """Return whether an artifact is meant as a DataTable: it has the three required fields."""
    return isinstance(value, dict) and value.keys() >= _FIELDS


def fault_of(value: JsonObject) -> str | None:
    """Return what is wrong with a DataTable, None if it is valid."""
    try:
        table = convert(value, DataTable)
    except ValidationError as error:
        return str(error).replace("$.", "")
    keys = [column.key for column in table.columns]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        return f"two columns have the key {twice!r}"
    return next(_cell_faults(table), None)


def _cell_faults(table: DataTable) -> Iterator[str]:
    for n, row in enumerate(table.data):
        for column in table.columns:
            if fault := _cell_fault(column, row):
                yield f"data[{n}].{fault}"


def _cell_fault(column: Column, row: Mapping[str, Cell]) -> str | None:
    """Return what is wrong with a cell; an absent cell and null are empty in every format."""
    cell, form = row.get(column.key), column.format
    if isinstance(form, LinkFormat) and form.href_key is not UNSET and (fault := _address_fault(form.href_key, row)):
        return fault
    if cell is None:
        return None
    wanted = None
    if isinstance(form, _NUMBERS):
        wanted = None if isinstance(cell, int | float) and not isinstance(cell, bool) else "a number"
    elif isinstance(form, BooleanFormat):
        wanted = None if isinstance(cell, bool) else "true or false"
    elif isinstance(form, ArrayFormat):
        wanted = None if isinstance(cell, list) else "a list"
    elif isinstance(form, ImageFormat) or (isinstance(form, LinkFormat) and form.href_key is UNSET):
        return _address_fault(column.key, row)
    elif isinstance(form, _TEXTS):
        wanted = None if isinstance(cell, str) else "a text"
    elif isinstance(cell, list):
        wanted = "a single value, or the format array"
    return f"{column.key}: expected {wanted}" if wanted else None


def _address_fault(key: str, row: Mapping[str, Cell]) -> str | None:
    address = row.get(key)
    return None if address is None or is_address(address) else f"{key}: expected an http or https address, or a path"


def is_address(value: object) -> bool:
    """Return whether a value is an absolute http or https address, or a path on this server."""
    if not isinstance(value, str) or not value.isprintable():
        return False
    if value.startswith("/"):
        return not value.startswith(("//", "/\\"))
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


__all__ = [
    "ArrayFormat",
    "BadgeFormat",
    "BooleanFormat",
    "BooleanLabels",
    "Column",
    "CurrencyFormat",
    "DataTable",
    "DateFormat",
    "DeltaFormat",
    "Format",
    "ImageFormat",
    "LinkFormat",
    "NumberFormat",
    "PercentFormat",
    "Row",
    "Status",
    "StatusFormat",
    "TextFormat",
    "fault_of",
    "is_address",
    "is_data_table",
]
