"""The JSON of `GET /api/spend`, as types."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta


class SpendTotal(TypedDict):
    """What runs cost."""

    runs: Annotated[int, Meta(description="Ended runs.")]
    cost: Annotated[float, Meta(description="USD, as far as known.")]
    estimated: Annotated[float, Meta(description="The part of `cost` that is an estimate.")]
    estimated_runs: Annotated[int, Meta(description="Runs whose cost is an estimate.")]


class SpendRow(SpendTotal):
    """What the runs with one key cost."""

    key: Annotated[
        str, Meta(description="The owner's id, the model, the UTC day or the group; empty for runs without a token.")
    ]
    name: Annotated[
        str | None,
        Meta(
            description="The name of the owner's token, or for the operator the name and email address of a person who "
            "has signed in; null for anything else."
        ),
    ]


class Spend(TypedDict):
    """What runs that started in a time cost, with deleted runs."""

    first_day: Annotated[str, Meta(description="The first UTC day.")]
    last_day: Annotated[str, Meta(description="The last UTC day.")]
    group_by: Literal["owner", "model", "day", "group"]
    all_owners: Annotated[bool, Meta(description="Whether the runs of all owners are counted: for the operator.")]
    rows: list[SpendRow]
    total: SpendTotal
