"""`signalbox replay` and `signalbox parity`: replay runs and print how they differ."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TextIO

from signalbox.app.config import Settings, SettingsError, load_settings
from signalbox.commands.parity_scenarios import scenarios
from signalbox.commands.recorded_trials import NoRecordings, recorded
from signalbox.commands.replay_setup import Workbench, with_database, workbench
from signalbox.commands.shadow_comparisons import COMPARED, comparison_of
from signalbox.core.errors import SignalboxError
from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject
from signalbox.core.ports import ChatClient
from signalbox.replay.case_runner import WholeFromStream, run_case
from signalbox.replay.differences import Difference, differences, format_cost
from signalbox.replay.fake_tools import NOON
from signalbox.replay.journals import Journal, NoJournal
from signalbox.replay.outcome import Outcome
from signalbox.replay.parity import Comparison, Trial, TrialSetup, run_trial
from signalbox.replay.reasons import explain, interruption_reasons, missing_history_reasons
from signalbox.replay.report import case_line, detail_lines, parity_data, replay_data, replay_lines, run_summary
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.store.shadow_runs import newest_shadows
from signalbox.wire.dialects import upstream_at
from signalbox.wire.json_text import dumps

Report = Callable[[Comparison], None]
_OTHER: Mapping[LoopName, LoopName] = {"v2": "legacy", "legacy": "v2"}
# Idle timeouts in seconds: long enough for a busy machine, and short for the simulated provider that stalls.
_PATIENCE, _SILENCE = 30.0, 0.2
_SIMULATOR, _RECORDINGS = "the simulator", "recordings"
_REAL = "a real model (text, calls, steps and cost may differ by chance)"


def replay(arguments: argparse.Namespace) -> int:
    """Replay one run and print the comparison; return the exit status."""
    return _run_command(_replay(arguments))


def parity(arguments: argparse.Namespace) -> int:
    """Replay a set of runs on both loops and print where they differ; return the exit status."""
    return _run_command(_parity(arguments))


def _run_command(work: Coroutine[None, None, int]) -> int:
    """Run a command; print a failure as one sentence and return 2."""
    try:
        return asyncio.run(work)
    except (SettingsError, NoJournal, NoRecordings) as error:
        _print_note(str(error))
    except SignalboxError as error:
        _print_note(f"{error.message} {error.todo}")
    except BrokenPipeError:
        raise
    except OSError as error:
        _print_note(f"{error.filename or 'A file'} cannot be read or written: {error.strerror}.")
    return 2


def _print_note(sentence: str) -> None:
    print(f"signalbox: {sentence}", file=sys.stderr)


def _warn_of(bench: Workbench, journals: Sequence[Journal]) -> None:
    """Warn about costs and about what makes the comparison less reliable."""
    if bench.is_real:
        _print_note(f"Requests go to {bench.settings.openrouter_base_url}, which costs money.")
    elif any(not journal.simulated for journal in journals):
        _print_note(
            "No OPENROUTER_API_KEY is set: the simulator answers instead of the real model of the original run."
        )
    for journal in journals:
        if journal.lacks_history:
            _print_note(f"The conversation of {journal.run_id} is not here, so earlier messages are missing.")
        if missing := bench.missing(journal):
            _print_note(
                f"Not installed here, but offered in {journal.run_id}: {', '.join(missing)}. The model gets only their "
                "names, so its calls, text and cost may differ."
            )


# --- replay -----------------------------------------------------------------------------------------------------


async def _replay(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    async with workbench(settings, pace=settings.signalbox_simulator_pace) as bench:
        journal = await bench.journal(arguments.name)
        _warn_of(bench, [journal])
        model = arguments.model or journal.model
        loop: LoopName = arguments.loop or (journal.loop if arguments.model else _OTHER[journal.loop])
        tools = bench.recorded(journal)
        result = await run_case(await bench.case(journal, model), loop, bench.upstream, tools)
        if arguments.events is not None:
            _write(arguments.events, result.stream)
        by_chance = bench.is_real or not journal.simulated or model != journal.model
        found = _explained(journal, result.outcome, by_chance=by_chance)
        # With `--events -`, standard output is only for the stream.
        out = sys.stderr if str(arguments.events) == "-" else sys.stdout
        if arguments.json:
            _print_json(replay_data(journal.outcome, result.outcome, found, tools.unknown), out)
        else:
            print(*replay_lines(journal.outcome, result.outcome, found, tools.unknown), sep="\n", file=out)
        if bench.is_real:
            _print_note(f"It cost {format_cost(result.outcome.cost)}.")
        return 1 if result.outcome.fault else 0


def _explained(journal: Journal, again: Outcome, *, by_chance: bool) -> list[Difference]:
    then = journal.outcome
    legacy, v2 = (again, then) if then.loop == "v2" else (then, again)
    known = missing_history_reasons() if journal.lacks_history else interruption_reasons(then)
    return explain(differences(then, again), legacy, v2, known=known, by_chance=by_chance)


def _write(path: Path, stream: bytes) -> None:
    if str(path) == "-":
        sys.stdout.buffer.write(stream)
        sys.stdout.flush()
    else:
        path.write_bytes(stream)


# --- parity -----------------------------------------------------------------------------------------------------


async def _parity(arguments: argparse.Namespace) -> int:
    if arguments.runs and (arguments.newest or arguments.scenarios or arguments.recordings or arguments.shadow):
        raise NoJournal("Give either run ids, or one of --newest, --shadow, --scenarios and --recordings.")
    settings = load_settings()
    results: list[Comparison] = []

    def report(result: Comparison) -> None:
        results.append(result)
        if not arguments.json:
            print(case_line(result), flush=True)

    if arguments.runs or arguments.newest:
        await _of_journals(settings, arguments, report)
        answered = _SIMULATOR if settings.is_simulated else _REAL
    elif arguments.shadow:
        await _of_shadow_runs(settings, report)
        answered = "the upstreams of the server (shadow mode)"
    elif arguments.recordings is not None:
        await _of_recordings(arguments.recordings, report)
        answered = _RECORDINGS
    else:
        await _of_scenarios(report)
        answered = _SIMULATOR
    if arguments.json:
        _print_json(parity_data(results), sys.stdout)
    else:
        print(*detail_lines(results, answered), sep="\n")
    return 1 if any(result.unexpected for result in results) else 0


async def _of_journals(settings: Settings, arguments: argparse.Namespace, report: Report) -> None:
    async with workbench(settings, pace=0) as bench:
        names = arguments.runs or await bench.newest(arguments.newest)
        journals = [await bench.journal(name) for name in names]
        _warn_of(bench, journals)
        clients: Mapping[LoopName, ChatClient] = {"legacy": bench.upstream, "v2": bench.second}
        cost = 0.0
        for journal in journals:
            case, about = await bench.case(journal, journal.model), f"then: {run_summary(journal.outcome)}"
            trial = Trial(case, lambda journal=journal: bench.recorded(journal), about=about)
            result = await run_trial(trial, TrialSetup(clients, by_chance=bench.is_real))
            cost += result.cost
            report(result)
        if bench.is_real:
            _print_note(f"It cost {format_cost(cost)}.")


async def _of_shadow_runs(settings: Settings, report: Report) -> None:
    runs = await with_database(settings, lambda database: database.read(newest_shadows, None, None))
    for run in runs:
        if run.outcome in COMPARED:
            report(comparison_of(run))
    if others := sum(1 for run in runs if run.outcome not in COMPARED):
        _print_note(f"Without a result, because they failed or are still running: {others} of {len(runs)} shadow runs.")


async def _of_scenarios(report: Report) -> None:
    async with AsyncExitStack() as stack:
        # Each loop has its own simulator, because some answers depend on earlier requests.
        addresses: dict[LoopName, str] = {
            loop: stack.enter_context(BackgroundSimulator()).base_url for loop in ("legacy", "v2")
        }
        patient, hasty = [
            await stack.enter_async_context(HttpClient(idle_timeout=seconds)) for seconds in (_PATIENCE, _SILENCE)
        ]
        for trial in scenarios():
            client = hasty if trial.case.model.endswith("/sim-stall") else patient
            clients: dict[LoopName, ChatClient] = {
                loop: UpstreamClient(client, upstream_at(address)) for loop, address in addresses.items()
            }
            report(await run_trial(trial, TrialSetup(clients, sleep=_at_once, now=lambda: NOON)))


async def _of_recordings(folder: Path, report: Report) -> None:
    trials = recorded(folder)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(HttpClient(idle_timeout=_PATIENCE))
        address = stack.enter_context(BackgroundSimulator(replay=folder)).base_url
        heard = WholeFromStream(UpstreamClient(client, upstream_at(address)))
        setup = TrialSetup({"legacy": heard, "v2": heard}, sleep=_at_once)
        for trial in trials:
            report(await run_trial(trial, setup))


async def _at_once(seconds: float) -> None:
    """Retry without backoff."""


def _print_json(value: JsonObject, out: TextIO) -> None:
    print(dumps(value).decode(), file=out)
