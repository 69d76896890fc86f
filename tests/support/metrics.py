"""Reads what a scrape returns."""

from collections.abc import Iterator
from typing import Any

from prometheus_client.parser import text_string_to_metric_families


class Scrape:
    """The samples of one scrape."""

    def __init__(self, text: str) -> None:
        self.families = list(text_string_to_metric_families(text))

    def samples(self) -> Iterator[tuple[str, dict[str, str], float]]:
        for family in self.families:
            for sample in family.samples:
                yield sample.name.removeprefix("signalbox_"), dict(sample.labels), sample.value

    def total(self, name: str, **labels: Any) -> float:
        """Return the sum of the samples of a name with these labels."""
        found = [
            value
            for sample, given, value in self.samples()
            if sample == name and given.items() >= {label: str(wanted) for label, wanted in labels.items()}.items()
        ]
        return sum(found)

    def labels(self, name: str) -> list[dict[str, str]]:
        """Return the labels of the samples of a name."""
        return [given for sample, given, _ in self.samples() if sample == name]

    def counters(self) -> dict[str, float]:
        """Return every value that may only rise, by name and labels."""
        return {
            f"{name}{sorted(labels.items())}": value
            for name, labels, value in self.samples()
            if name.endswith(("_total", "_count", "_sum", "_bucket"))
        }
