"""Checks the previews of a run's calls: their order, and that a call keeps what its previews promise."""

from dataclasses import dataclass, field

from msgspec import UNSET

from signalbox.core.events import Call, Preview


@dataclass(slots=True)
class OpenPreview:
    """What is previewed of one call: its tool, and the number of characters of each argument."""

    name: str | None
    key: str | None = None
    sizes: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class PreviewCheck:
    """Checks previews one by one. `open` are the calls that are neither announced nor withdrawn, by id."""

    open: dict[str, OpenPreview] = field(default_factory=dict[str, OpenPreview])
    _withdrawn: set[str] = field(default_factory=set[str])

    def feed(self, event: Preview, *, resumed: bool) -> str | None:
        """Return what is wrong with the next preview, or None. `resumed`: earlier previews are unknown."""
        if event.id in self._withdrawn:
            return f"preview of call {event.id} after its previews are withdrawn"
        if event.withdrawn is True:
            return self._withdraw(event, resumed=resumed)
        if event.text is UNSET:
            return f"preview of call {event.id} has no text"
        one = self.open.get(event.id)
        if one is None:
            if not resumed and (event.name is UNSET or event.key is UNSET):
                return f"the first preview of call {event.id} has no name or no key"
            one = self.open[event.id] = OpenPreview(None if event.name is UNSET else event.name)
        one.key = one.key if event.key is UNSET else event.key
        if one.key is not None:
            one.sizes[one.key] = one.sizes.get(one.key, 0) + len(event.text)
        return None

    def _withdraw(self, event: Preview, *, resumed: bool) -> str | None:
        if event.text is not UNSET:
            return f"the preview that withdraws call {event.id} has text"
        if self.open.pop(event.id, None) is None and not resumed:
            return f"the previews of call {event.id} are withdrawn, but it has none"
        self._withdrawn.add(event.id)
        return None

    def announce(self, call: Call, *, resumed: bool) -> str | None:
        """Return which of a call's previews are not valid, as a sentence, or None."""
        one = self.open.pop(call.id, None)
        if resumed:
            return None
        if one is not None and one.name != call.name:
            return f"call {call.id} is announced as {call.name!r}, but previewed as {one.name!r}"
        sizes = {} if one is None else one.sizes
        for key, size in ({} if call.previewed is UNSET else call.previewed).items():
            if sizes.get(key) != size:
                return f"call {call.id} has {sizes.get(key, 0)} previewed characters of {key}, not {size}"
        return None
