"""DataTables: which are valid, what is wrong with others, and that the JSON Schema agrees."""

from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from msgspec import to_builtins
from signalbox.core.data_table import (
    BooleanFormat,
    BooleanLabels,
    Column,
    CurrencyFormat,
    DataTable,
    ImageFormat,
    LinkFormat,
    Status,
    StatusFormat,
    fault_of,
    is_address,
    is_data_table,
)
from signalbox.encoders.contract_schema import table_schema_bytes

SCHEMA = Draft202012Validator(orjson.loads(table_schema_bytes()))

MUGS = DataTable(
    surface_id="mugs-1",
    columns=[
        Column("image", "Image", ImageFormat(width=64, height=64), sortable=False),
        Column("name", "Product", LinkFormat(href_key="url"), priority="primary"),
        Column("price", "Price", CurrencyFormat("USD"), align="right"),
        Column("stock", "Stock", StatusFormat({"in stock": Status("success", "In stock")})),
        Column("handmade", "Handmade", BooleanFormat(BooleanLabels("Yes", "No")), hide_on_mobile=True),
    ],
    data=[
        {
            "image": "https://shop.example/red.jpg",
            "name": "Red mug",
            "url": "https://shop.example/red",
            "price": 12.5,
            "stock": "in stock",
            "handmade": True,
        },
        {"name": "Blue mug", "price": None},
    ],
    caption="Mugs",
)


def table_with(form: dict[str, Any] | None, cell: object, **row: object) -> dict[str, Any]:
    """Return a table of one cell."""
    column = {"key": "x", "label": "X", **({"format": form} if form else {})}
    return {"surfaceId": "s", "columns": [column], "data": [{"x": cell, **row}]}


def test_a_table_is_valid_json_of_the_documented_form() -> None:
    """Names are in camel case, absent options are left out, and the schema accepts it."""
    value = to_builtins(MUGS)
    assert value["surfaceId"] == "mugs-1"
    assert value["columns"][1] == {
        "key": "name",
        "label": "Product",
        "format": {"kind": "link", "hrefKey": "url"},
        "priority": "primary",
    }
    assert value["columns"][4]["format"] == {"kind": "boolean", "labels": {"true": "Yes", "false": "No"}}
    assert "error" not in value
    assert (is_data_table(value), fault_of(value)) == (True, None)
    assert SCHEMA.is_valid(value)


GOOD: list[tuple[dict[str, Any] | None, object]] = [
    (None, "text"),
    (None, 3),
    ({"kind": "text"}, None),
    ({"kind": "number", "decimals": 2, "unit": "kg", "compact": True}, 1200),
    ({"kind": "currency", "currency": "JPY"}, 1500),
    ({"kind": "percent", "basis": "unit"}, 12.5),
    ({"kind": "date", "dateFormat": "relative"}, "2026-03-01"),
    ({"kind": "delta", "upIsPositive": False, "showSign": True}, -3),
    ({"kind": "status", "statusMap": {"new": {"tone": "info"}}}, "used"),
    ({"kind": "boolean"}, False),
    ({"kind": "link", "external": True}, "https://shop.example/"),
    ({"kind": "link"}, "/notes/mugs.md"),
    ({"kind": "badge", "colorMap": {"sale": "warning"}}, "sale"),
    ({"kind": "array", "maxVisible": 2}, ["a", 1, None]),
    ({"kind": "image", "width": 160, "height": 160, "altKey": "name"}, "http://shop.example/1.png"),
]


@pytest.mark.parametrize(("form", "cell"), GOOD, ids=[str(form and form["kind"]) for form, _ in GOOD])
def test_every_format_has_its_values(form: dict[str, Any] | None, cell: object) -> None:
    """Each documented format with a value that fits."""
    value = table_with(form, cell)
    assert fault_of(value) is None
    assert SCHEMA.is_valid(value)


@pytest.mark.parametrize(
    ("form", "cell", "fault"),
    [
        ({"kind": "currency", "currency": "USD"}, "$12.50", "data[0].x: expected a number"),
        ({"kind": "number"}, True, "data[0].x: expected a number"),
        ({"kind": "boolean"}, "yes", "data[0].x: expected true or false"),
        ({"kind": "date"}, 1790000000, "data[0].x: expected a text"),
        ({"kind": "array"}, "a", "data[0].x: expected a list"),
        (None, ["a"], "data[0].x: expected a single value, or the format array"),
        ({"kind": "link"}, "javascript:alert(1)", "data[0].x: expected an http or https address, or a path"),
        ({"kind": "image"}, "data:image/png;base64,AA", "data[0].x: expected an http or https address, or a path"),
    ],
)
def test_a_value_that_does_not_fit_its_format(form: dict[str, Any] | None, cell: object, fault: str) -> None:
    """The fault names the row and the field."""
    assert fault_of(table_with(form, cell)) == fault


def test_the_address_of_a_link_is_checked() -> None:
    """Also if it is in another field, and if the text of the link is empty."""
    form = {"kind": "link", "hrefKey": "url"}
    assert fault_of(table_with(form, "Shop", url="https://shop.example/")) is None
    assert (
        fault_of(table_with(form, None, url="file:///etc/passwd"))
        == "data[0].url: expected an http or https address, or a path"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"surfaceId": ""}, "surfaceId"),
        ({"data": {}}, "data"),
        ({"data": [{"x": {"nested": 1}}]}, "data[0]"),
        ({"columns": [{"key": "x"}]}, "columns[0]"),
        ({"columns": [{"key": "x", "label": "X", "format": {"kind": "money"}}]}, "columns[0].format"),
        ({"columns": [{"key": "x", "label": "X", "format": {"kind": "currency", "currency": "$"}}]}, "currency"),
        ({"columns": [{"key": "x", "label": "X", "colour": "red"}]}, "colour"),
        ({"columns": [{"key": "x", "label": "X"}] * 2}, "two columns have the key 'x'"),
    ],
)
def test_the_shape_is_checked(change: dict[str, Any], says: str) -> None:
    """The fault names the field that is wrong."""
    fault = fault_of({**table_with(None, 1), **change})
    assert fault is not None
    assert says in fault


def test_only_the_required_fields_make_a_data_table() -> None:
    """Any other JSON is an artifact, too."""
    assert not is_data_table({"rows": 3})
    assert not is_data_table(["surfaceId", "columns", "data"])


def test_fields_of_a_later_version_are_allowed_in_the_schema() -> None:
    """A page that validates must not reject what a newer server adds."""
    assert SCHEMA.is_valid({**to_builtins(MUGS), "sort": "price"})


@pytest.mark.parametrize(
    "text", ["http://[", "//host/x", "/\\host", "https://", "https://a\nb", "mailto:a@b.c", "", 3, None]
)
def test_what_is_no_address(text: object) -> None:
    """Only absolute http and https addresses and paths on this server are."""
    assert not is_address(text)
