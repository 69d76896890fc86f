"""The ids of handed calls."""

import pytest
from signalbox.core.handed_calls import Handle, handed_id, handle_in

RUN = "0123456789abcdef" * 2


def test_an_id_names_its_run_and_its_call() -> None:
    """What a client sends back is enough to find both."""
    assert handed_id(RUN, "aB3dE6gH9") == f"call_{RUN}_aB3dE6gH9"
    assert handle_in(handed_id(RUN, "aB3dE6gH9")) == Handle(RUN, "aB3dE6gH9")


@pytest.mark.parametrize(
    "given", ["", "call_abc", f"call_{RUN}", f"call_{RUN}_", f"call_{RUN[:-1]}_a", f"toolu_{RUN}_a", f"call_{RUN}_a\n"]
)
def test_other_ids_name_nothing(given: str) -> None:
    """Ids of other providers, and cut ones."""
    assert handle_in(given) is None
