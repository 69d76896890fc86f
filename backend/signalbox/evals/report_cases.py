"""The sections of the report: each case with its question, and each result with its checks and its answer."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.evals.results import Check, Result
from signalbox.evals.trials import Question

MARKS = {"pass": "✓", "fail": "✗", "error": "!", "missing": "–"}
_WORDS = {"pass": "passed", "fail": "failed", "error": "error"}
_LONGEST_TEXT, _LONGEST_ARGUMENTS, _LONGEST_QUESTION = 20_000, 2_000, 5_000
_LONGEST_WHY = 200


def case_section(
    question: Question,
    results: Sequence[Result],
    retried: Mapping[str, Sequence[Result]],
    missing: int,
    neighbours: tuple[str | None, str | None],
) -> Iterator[str]:
    """Yield the section of a case; `retried` are earlier attempts, by the digest of the trial."""
    case = question.case
    yield f'<section id="case-{escape(case.id)}"><div class="head"><h2>{escape(case.id)}</h2><nav>'
    for words, other in zip(("← {}", "{} →"), neighbours, strict=True):
        if other is not None:
            yield f'<a href="#case-{escape(other)}">{escape(words.format(other))}</a>'
    yield '<a href="#top">↑ all cases</a></nav></div>\n'
    if case.description:
        yield f"<p>{escape(case.description)}</p>\n"
    yield from _question(question)
    first = next((result for result in results if result.outcome != "pass"), None)
    for result in results:
        earlier = [one for one in retried.get(result.digest, ()) if one is not result]
        yield from _result(result, earlier, is_open=result is first)
    if missing:
        yield f'<p class="missing">{MARKS["missing"]} {missing} not executed</p>'
    yield "</section>\n"


def _question(question: Question) -> Iterator[str]:
    yield '<details><summary>Question</summary><div class="body">'
    for role, text in _said(question.body):
        yield f"<h3>{escape(role)}</h3>{_pre(text, _LONGEST_QUESTION)}"
    attached = [*question.case.images, *question.case.files]
    if attached:
        yield f"<h3>files</h3><p>{escape(', '.join(attached))}</p>"
    others = {name: value for name, value in question.body.items() if name not in ("messages", "system")}
    if others:
        yield f"<h3>parameters</h3>{_pre(_lines(others), _LONGEST_QUESTION)}"
    yield "</div></details>\n"


def _said(body: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield each message of the request as its role and its text."""
    if isinstance(body.get("system"), str):
        yield "system", str(body["system"])
    messages = body["messages"]
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            yield str(message["role"]), _text_of(message.get("content"))


def _text_of(content: JsonValue) -> str:
    if not isinstance(content, list):
        return "" if content is None else str(content)
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(str(text) for text in texts if text is not None)


def _lines(values: JsonObject) -> str:
    return "\n".join(f"{name}: {value}" for name, value in values.items())


def _result(result: Result, earlier: Sequence[Result], *, is_open: bool) -> Iterator[str]:
    kind = result.outcome
    opened = " open" if is_open else ""
    title = f"{result.model} · {result.served_loop or result.loop or 'default'} loop"
    title += f" · repetition {result.repeat}" if result.repeat > 1 else ""
    yield f'<details class="is-{kind}" id="r-{escape(result.digest)}"{opened}><summary><span class="mark {kind}">'
    yield f"{MARKS[kind]}</span>{escape(title)}: {_WORDS[kind]}"
    yield f'<span class="dim">{escape(_figures(result))}</span>{_why(result)}</summary><div class="body">\n'
    if result.error:
        yield f'<p class="error">{escape(result.error)}{_code(result)}</p>'
    yield from _checks(result.checks)
    if result.text:
        yield f"<h3>Answer</h3>{_pre(result.text, _LONGEST_TEXT)}"
    yield from _calls(result)
    if result.files:
        files = ", ".join(f"{file.path} ({file.size:,} bytes)" for file in result.files)
        yield f"<h3>Files</h3><p>{escape(files)}</p>"
    if result.warnings:
        yield f"<h3>Warnings</h3><p>{escape(', '.join(result.warnings))}</p>"
    for one in earlier:
        yield f'<p class="dim">Attempt {one.attempt} was retried: {escape(one.error or one.status or "")}</p>'
    yield f"{_ids(result)}</div></details>\n"


def _why(result: Result) -> str:
    """Name what failed, for a result that is closed."""
    failed = "; ".join(check.name for check in result.failed_checks)
    why = (result.error or "")[:_LONGEST_WHY] if result.outcome == "error" else failed
    return f'<span class="why">{escape(why)}</span>' if why else ""


def _checks(checks: Sequence[Check]) -> Iterator[str]:
    yield '<ul class="checks">'
    for check in sorted(checks, key=lambda one: one.ok):
        kind = "pass" if check.ok else "fail"
        detail = f'<span class="dim"> – {escape(check.detail)}</span>' if check.detail else ""
        yield f'<li><span class="mark {kind}">{MARKS[kind]}</span>{escape(check.name)}{detail}</li>'
    yield "</ul>\n"


def _calls(result: Result) -> Iterator[str]:
    if not result.calls:
        return
    yield '<h3>Tool calls</h3><ul class="checks">'
    for call in result.calls:
        kind = "pass" if call.error is None else "fail"
        shown = f"{call.name} {call.arguments[:_LONGEST_ARGUMENTS]}"
        error = f'<span class="fail"> – {escape(call.error)}</span>' if call.error is not None else ""
        yield f'<li><span class="mark {kind}">{MARKS[kind]}</span><code>{escape(shown)}</code>{error}</li>'
    yield "</ul>\n"


def _figures(result: Result) -> str:
    parts: list[str] = []
    if result.duration_ms is not None:
        parts.append(f"{result.duration_ms / 1000:.2f} s")
    if result.steps is not None:
        parts.append(f"{result.steps} step{'' if result.steps == 1 else 's'}")
    if result.input_tokens is not None:
        parts.append(f"{result.input_tokens:,} + {result.output_tokens or 0:,} tokens")
    if result.cost is not None:
        parts.append(f"${result.cost:.4f}")
    return " · ".join(parts)


def _ids(result: Result) -> str:
    parts = [f"run {result.run_id}"] if result.run_id else []
    parts += [f"conversation {result.conversation_id}"] if result.conversation_id else []
    parts += [f"answered by {result.served_model}"] if result.served_model not in (None, result.model) else []
    return f'<p class="dim"><code>{escape(" · ".join(parts))}</code></p>' if parts else ""


def _code(result: Result) -> str:
    return f" ({escape(result.code)})" if result.code else ""


def _pre(text: str, longest: int) -> str:
    """Show text as it is; `dir` keeps right-to-left text readable."""
    rest = f"\n… and {len(text) - longest:,} more characters" if len(text) > longest else ""
    return f'<pre dir="auto">{escape(text[:longest] + rest)}</pre>'
