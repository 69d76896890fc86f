"""The command `signalbox` with its subcommands, such as serve, doctor, backup, replay, eval and token."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from signalbox import __version__
from signalbox.core.errors import UpstreamError
from signalbox.extras import without_server
from signalbox.tracing.propagators import drop_unknown_propagators

if TYPE_CHECKING:  # only decode needs it; importing it slows down every command
    from signalbox.wire.dialect import Dialect


class _Verbs(Protocol):
    """The object to which subcommands are added."""

    def add_parser(self, name: str, *, help: str) -> argparse.ArgumentParser:  # noqa: A002 - argparse's own word
        """Add a subcommand."""
        ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 success, 1 a fault was found, 2 the command failed."""
    given = sys.argv[1:] if argv is None else argv
    if not given:
        _parser().print_help(sys.stderr)
        return 2
    arguments = _parser().parse_args(given)
    drop_unknown_propagators(os.environ)
    try:
        return arguments.run(arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as missing:
        if (sentence := without_server("this command", missing.name)) is None:
            raise
        return _fail(f"{sentence}.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="signalbox", description="One chat endpoint for every model.")
    parser.add_argument("--version", action="version", version=f"signalbox {__version__}")
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = verbs.add_parser("serve", help="run the server with its chat page")
    serve.add_argument("--host", help="address to listen on (SIGNALBOX_HOST, 127.0.0.1)")
    serve.add_argument("--port", type=int, help="port to listen on (SIGNALBOX_PORT, 8000; 0: any free one)")
    serve.add_argument(
        "--workers",
        type=int,
        default=None,
        help="number of worker processes (WEB_CONCURRENCY, 1); several need DATABASE_URL",
    )
    serve.set_defaults(run=_serve)

    doctor = verbs.add_parser("doctor", help="check API key, data folder, database, search and port; print what to fix")
    doctor.add_argument("--host", help="address that the server listens on (SIGNALBOX_HOST)")
    doctor.add_argument("--port", type=int, help="port that the server listens on (SIGNALBOX_PORT)")
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")
    doctor.set_defaults(run=_doctor)

    _add_backups(verbs)
    simulate = verbs.add_parser("simulate", help="run only the simulator, on a loopback port")
    simulate.add_argument("--host", default="127.0.0.1")
    simulate.add_argument("--port", type=int, default=8001)
    simulate.add_argument("--pace", type=float, default=None, help="seconds between two chunks")
    simulate.add_argument("--replay", type=Path, help="answer with a recording, or with a folder of recordings")
    simulate.set_defaults(run=_simulate)

    decode = verbs.add_parser("decode", help="print a captured upstream response as decoded JSON")
    decode.add_argument(
        "--dialect",
        type=_dialect,
        required=True,
        metavar="NAME",
        help="dialect of the response, such as openrouter-chat",
    )
    decode.add_argument("file", type=Path, help="the body, streamed or whole; - for standard input")
    decode.set_defaults(run=_decode)

    check = verbs.add_parser("check-stream", help="check the events and their order in a captured v1.1 stream")
    check.add_argument("file", type=Path, help="the stream as bytes; - for standard input")
    check.add_argument("--resumed", action="store_true", help="accept a stream that begins in the middle of its run")
    check.set_defaults(run=_check)
    _add_replaying(verbs)
    _add_eval(verbs)
    _add_tokens(verbs)
    return parser


def _add_backups(verbs: _Verbs) -> None:
    backup = verbs.add_parser("backup", help="write all data to one file; the server may be running")
    backup.add_argument(
        "target",
        nargs="?",
        type=Path,
        default=Path(),
        help="a folder (default: the current one), or a file to write",
    )
    backup.set_defaults(run=_backup)
    restore = verbs.add_parser("restore", help="restore a backup; existing data is renamed, not deleted")
    restore.add_argument("file", type=Path, help="a file written by signalbox backup; the server must be stopped")
    restore.set_defaults(run=_restore)


def _add_replaying(verbs: _Verbs) -> None:
    replay = verbs.add_parser("replay", help="replay a run from its journal; executes no tool and stores nothing")
    replay.add_argument("name", metavar="RUN", help="id of a run or a save, or a file of GET /api/saves/ID")
    replay.add_argument(
        "--loop", choices=("legacy", "v2"), help="loop of the replay (default: the loop that the run did not use)"
    )
    replay.add_argument("--model", help="replay with another model; then the default is the loop of the run")
    replay.add_argument("--json", action="store_true", help="print the comparison as JSON")
    replay.add_argument(
        "--events", type=Path, metavar="FILE", help="write the replay's v1.1 stream; - for standard output"
    )
    replay.set_defaults(run=_replay)

    parity = verbs.add_parser("parity", help="replay runs on both loops and print where they differ")
    parity.add_argument("runs", nargs="*", metavar="RUN", help="ids of runs or saves, or files of GET /api/saves/ID")
    chosen = parity.add_mutually_exclusive_group()
    chosen.add_argument("--newest", type=_count, metavar="N", help="replay the N newest runs")
    chosen.add_argument(
        "--shadow", action="store_true", help="report what shadow mode has found in 30 days; replays nothing"
    )
    chosen.add_argument("--scenarios", action="store_true", help="replay all scenarios of the simulator (the default)")
    chosen.add_argument("--recordings", type=Path, metavar="DIR", help="replay a folder of recorded answers")
    parity.add_argument("--json", action="store_true", help="print the report as JSON")
    parity.set_defaults(run=_parity)


def _add_eval(verbs: _Verbs) -> None:
    evaluate = verbs.add_parser("eval", help="ask models the questions of a set file and check the answers")
    evaluate.usage = "signalbox eval FILE --output FOLDER [options]\n       signalbox eval compare A B"
    evaluate.description = (
        "Ask models the questions of a set, check the answers, and write a report. Runs that have a result in FOLDER "
        "are skipped, so the same command continues after an interruption. `compare` compares the results of two "
        "folders."
    )
    evaluate.epilog = (
        "Exit status: 0 if all runs passed (compare: none got worse), 1 if not, 2 if the command could not be "
        "executed, 130 after Ctrl-C. The format of a set is described in docs/eval.md."
    )
    evaluate.add_argument(
        "files", nargs="+", metavar="FILE", help="TOML file with the set; or `compare` and two output folders"
    )
    evaluate.add_argument(
        "--output", type=Path, metavar="FOLDER", help="where to write results.ndjson and report.html (required)"
    )
    evaluate.add_argument("--url", help="server to ask (default: 127.0.0.1 on the port SIGNALBOX_PORT)")
    evaluate.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="file with the server's token (default without --url: SIGNALBOX_ACCESS_TOKEN)",
    )
    evaluate.add_argument(
        "--simulate", action="store_true", help="ask the built-in simulator instead of a server; costs nothing"
    )
    evaluate.add_argument(
        "--only",
        action="append",
        metavar="CASE",
        help="ask only the case with this id; * stands for any text; may be repeated",
    )
    evaluate.add_argument("--failed", action="store_true", help="also execute failed runs again")
    evaluate.set_defaults(run=_eval)


def _add_tokens(verbs: _Verbs) -> None:
    token = verbs.add_parser("token", help="create, list and revoke API tokens; each has its own runs")
    doings = token.add_subparsers(required=True, metavar="COMMAND")
    create = doings.add_parser("create", help="create a token; this is the only time that it is printed")
    create.add_argument("name", metavar="NAME", help="name of the user, shown in the list")
    create.add_argument("--days", type=float, default=None, help="days until it expires (default: never)")
    create.set_defaults(run=_create_token)
    listing = doings.add_parser("list", help="list all tokens, without their secrets")
    listing.set_defaults(run=_list_tokens)
    revoke = doings.add_parser("revoke", help="revoke a token; it stops working within a second")
    revoke.add_argument("id", metavar="ID", help="the id shown by signalbox token list")
    revoke.set_defaults(run=_revoke_token)


def _serve(arguments: argparse.Namespace) -> int:
    from signalbox.app.process.gc_tuning import uncollected

    with uncollected():
        from signalbox.server.serve import serve

    return serve(arguments.host, arguments.port, arguments.workers)


def _doctor(arguments: argparse.Namespace) -> int:
    from signalbox.commands.doctor.examination import doctor

    return doctor(json=arguments.json, host=arguments.host, port=arguments.port)


def _backup(arguments: argparse.Namespace) -> int:
    from signalbox.commands.backup import backup

    return backup(arguments.target)


def _restore(arguments: argparse.Namespace) -> int:
    from signalbox.commands.backup import restore

    return restore(arguments.file)


def _simulate(arguments: argparse.Namespace) -> int:
    from signalbox.simulator.http.server import DEFAULT_PACE, serve

    if arguments.replay is not None and not arguments.replay.exists():
        return _fail(f"There is no file or folder {arguments.replay}.")
    try:
        serve(
            arguments.host, arguments.port, arguments.replay, DEFAULT_PACE if arguments.pace is None else arguments.pace
        )
    except OSError as error:
        return _fail(f"Cannot listen on {arguments.host}:{arguments.port} ({error.strerror}). Choose another --port.")
    return 0


def _dialect(name: str) -> "Dialect":
    from signalbox.wire.dialects import DIALECTS

    if name not in DIALECTS:
        raise argparse.ArgumentTypeError(f"there is no dialect {name!r}; the dialects are: {', '.join(DIALECTS)}")
    return DIALECTS[name]


def _decode(arguments: argparse.Namespace) -> int:
    from signalbox.decode import decode_capture

    data = _bytes_of(arguments.file)
    if data is None:
        return 2
    try:
        meaning, doubt = decode_capture(data, arguments.dialect)
    except (ValueError, UpstreamError) as error:
        return _fail(f"{arguments.file} is neither a stream nor a JSON body: {error}.")
    print(json.dumps(meaning, indent=2, ensure_ascii=False))  # orjson supports only 64-bit integers
    if doubt:
        print(f"signalbox: {arguments.file}: {doubt}.", file=sys.stderr)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from signalbox.encoders.check import first_stream_fault

    data = _bytes_of(arguments.file)
    if data is None:
        return 2
    fault, frames = first_stream_fault(data, resumed=arguments.resumed)
    if fault:
        print(f"{arguments.file}: {fault}")
        return 1
    print(f"{arguments.file}: {frames} frames, a valid v1.1 stream")
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a number of at least 1")
    return int(text)


def _replay(arguments: argparse.Namespace) -> int:
    from signalbox.commands.replay import replay

    return replay(arguments)


def _parity(arguments: argparse.Namespace) -> int:
    from signalbox.commands.replay import parity

    return parity(arguments)


def _eval(arguments: argparse.Namespace) -> int:
    from signalbox.commands.eval import run

    return run(arguments)


def _create_token(arguments: argparse.Namespace) -> int:
    from signalbox.commands.token import create

    return create(arguments.name, arguments.days)


def _list_tokens(arguments: argparse.Namespace) -> int:
    from signalbox.commands.token import list_all

    return list_all()


def _revoke_token(arguments: argparse.Namespace) -> int:
    from signalbox.commands.token import revoke

    return revoke(arguments.id)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        _fail(f"{path} cannot be read: {error.strerror}.")
        return None


def _fail(sentence: str) -> int:
    print(f"signalbox: {sentence}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
