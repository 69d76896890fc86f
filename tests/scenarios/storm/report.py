"""The storm's figures as a table, and which of them are failures."""

from tests.scenarios.storm.storm import MAY_HOLD, SHOWN, Figures

MB = 1024 * 1024
MAY_GROW = 0.10


def failures(figures: Figures, *, judge_memory: bool) -> list[str]:
    """Return what is wrong."""
    last = figures.looks["end"]
    checks = {
        f"{len(figures.invalid)} streams are not valid": not figures.invalid,
        f"{len(figures.dishonest)} cut streams ended otherwise than they came": not figures.dishonest,
        f"{len(figures.hung)} requests hung, broke or were refused": not figures.hung,
        f"{last.written} calls that write ran, not {figures.to_write}": last.written == figures.to_write,
        f"{last.twice} runs wrote twice": last.twice == 0,
        **{f"{count} {kind} leaked": count <= 0 for kind, count in figures.leaks().items()},
        f"{figures.left / MB:.0f} MB are still held, of {figures.idle / MB:.0f} MB when idle": (
            figures.left <= MAY_HOLD * figures.idle
        ),
        f"memory grew by {figures.growth():.1%}": not judge_memory or figures.growth() <= MAY_GROW,
    }
    return [wrong for wrong, holds in checks.items() if not holds]


def table(figures: Figures) -> str:
    """Return the figures, one per line."""
    first, end = figures.looks["first"], figures.looks["end"]
    rows: list[tuple[str, object]] = [
        ("seed", figures.seed),
        ("runs", figures.runs),
        ("  of these streams cut at a byte", figures.cuts),
        *((f"  client: {name}", count) for name, count in figures.did.most_common()),
        ("seconds", f"{figures.seconds:.1f}"),
        ("runs per second", f"{figures.runs / figures.seconds:.0f}"),
        ("streams valid, whole", figures.valid),
        ("streams valid, as far as read", figures.beginnings),
        ("streams invalid", len(figures.invalid)),
        ("cut streams dishonest", len(figures.dishonest)),
        ("requests hung, broken or refused", len(figures.hung)),
        *((f"  refused: {name}", count) for name, count in figures.refused.most_common()),
        *((f"ending {name}", count) for name, count in figures.endings.most_common()),
        *((f"  code {name}", count) for name, count in figures.codes.most_common()),
        ("writing calls run / due", f"{end.written} / {figures.to_write}"),
        *((f"leaked {kind}", count) for kind, count in figures.leaks().items()),
        ("most sockets at once", figures.most_sockets),
        ("memory before, idle", f"{figures.idle / MB:.1f} MB"),
        ("memory at most", f"{figures.peak / MB:.1f} MB"),
        ("memory after, idle", f"{figures.left / MB:.1f} MB, {figures.left_seconds:.0f} s behind the last run"),
        (f"memory behind {first.done} runs", f"{first.rss / MB:.1f} MB"),
        (f"memory behind {end.done} runs", f"{end.rss / MB:.1f} MB ({figures.growth():+.1%})"),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def details(figures: Figures) -> str:
    """Return the first examples of everything that went wrong."""
    wrong = [*figures.invalid[:SHOWN], *figures.dishonest[:SHOWN], *figures.hung[:SHOWN]]
    left = sorted(set(figures.looks["end"].files) - set(figures.looks["start"].files))
    return "\n".join([*wrong, *left[:SHOWN], f"tasks at the end: {figures.looks['end'].names}"])
