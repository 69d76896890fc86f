"""The operator page has words for every value of the API that it shows."""

from pathlib import Path
from typing import get_args

import pytest
from signalbox.core.operation.audit import Action
from signalbox.core.operation.webhooks import EVENT_KINDS, DeliveryError
from signalbox.replay.differences import KINDS
from signalbox.store.shadow_runs import ShadowOutcome

_PAGES = Path(__file__).parents[3] / "frontend" / "src" / "logic" / "pages"


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("audit.ts", get_args(Action)),
        ("webhooks.ts", EVENT_KINDS),
        ("webhooks.ts", get_args(DeliveryError)),
        ("shadow.ts", get_args(ShadowOutcome)),
        ("shadow.ts", KINDS),
    ],
    ids=["actions", "events", "delivery errors", "outcomes", "differences"],
)
def test_the_operator_page_knows_every_value(file: str, values: tuple[str, ...]) -> None:
    """A new value is added to the page too: as a key, or in quotes."""
    source = (_PAGES / file).read_text(encoding="utf-8")
    assert [value for value in values if f'"{value}"' not in source and f"  {value}: " not in source] == []
