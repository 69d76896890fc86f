"""The row `encoders`: the CPU time of each protocol's encoder, compared with that of contract v1.1."""

from time import process_time

from signalbox.app.protocols import PROTOCOLS
from signalbox.core.events import AnyEvent, Content, Done, Reasoning, Stamped
from signalbox.core.records import RunRecord
from signalbox.encoders.encoder import Encoder
from signalbox.encoders.sse_v1 import SseV1Encoder

from tests.bench.figures import Figure

ROW = "encoders"
_TEXTS, _REASONING, _RUNS = 200, 20, 100
# Events per batch: those of one network read at full speed, and of one delta.
_BATCHES = (40, 1)


def encoder_figures(rounds: int) -> list[Figure]:
    """Return a figure for each protocol and size of batches."""
    events = _events()
    encoders = {protocol.name: protocol.encoder for protocol in PROTOCOLS if protocol.encoder is not SseV1Encoder}
    spent: dict[str, list[float]] = {}
    for _ in range(rounds):
        for size in _BATCHES:
            batches = [events[at : at + size] for at in range(0, len(events), size)]
            v1 = _cpu(SseV1Encoder, batches)
            for name, encoder in encoders.items():
                spent.setdefault(figure_name(name, size), []).append(_cpu(encoder, batches) / v1)
    return [Figure(ROW, name, tuple(ratios), "×", alike="encoders") for name, ratios in spent.items()]


def figure_name(protocol: str, size: int) -> str:
    """Return the name of a figure."""
    return f"{protocol} ÷ v1.1, batches of {size}"


def _events() -> list[Stamped]:
    events: list[AnyEvent] = [Reasoning(f"thought {number} ", 1) for number in range(_REASONING)]
    events += [Content(f"word {number} ") for number in range(_TEXTS)]
    events.append(Done(True, "complete"))
    return [Stamped(seq, 1_790_000_000_000 + seq, event) for seq, event in enumerate(events, 1)]


def _cpu(encoder: type[Encoder], batches: list[list[Stamped]]) -> float:
    record = RunRecord("0" * 32, "openai/sim", "v2", started=1.0)
    started = process_time()
    for _ in range(_RUNS):
        encode = encoder(record).encode
        for batch in batches:
            encode(batch)
    return process_time() - started
