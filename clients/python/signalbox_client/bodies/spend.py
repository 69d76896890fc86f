"""What runs have cost."""

from typing import Literal, TypedDict


class SpendTotal(TypedDict):
    """The cost of runs in USD. `estimated` is the part of `cost` that may still change."""

    runs: int
    cost: float
    estimated: float
    estimated_runs: int


class SpendRow(SpendTotal):
    """The cost of the runs with one `key`: a UTC day, an owner's id, a model or a group.

    `name` is the name of the owner's API token.
    """

    key: str
    name: str | None


class Spend(TypedDict):
    """The cost of the runs from `first_day` to `last_day`, in UTC."""

    first_day: str
    last_day: str
    group_by: Literal["owner", "model", "day", "group"]
    all_owners: bool
    rows: list[SpendRow]
    total: SpendTotal
