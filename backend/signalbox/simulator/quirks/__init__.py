"""The quirks of real providers, one model id for each: `<family>/sim-quirk-ID`, in any family.

| id | what the provider does |
|---|---|
| a01 | two complete calls, both with index 0; only their ids differ |
| a01-fragmented | the same in pieces: header and pieces of one, then of the other; the pieces have no id |
| a01-by-turns | the same in alternating pieces, each with the id of its call |
| a01-same-name | two searches at index 0, in pieces |
| a01-no-id | two complete searches at index 0, without ids |
| a02 | two calls without index; pieces follow their header |
| a02-null | the same with index null |
| a02-late | headers without index, pieces with one |
| a03 | the first chunk holds two entries of the same call: header and first arguments |
| a04-int | ids are integers |
| a04-null | ids are null |
| a04-resent | every piece repeats the id |
| a04-late | the id comes in the third chunk of a call |
| a04-none | no id at all |
| a05-resent | every piece repeats the whole name |
| a05-blank | every piece has the name "" |
| a05-nonstring | every piece has the name 42 |
| a05-split | the name comes in two pieces, cut at its last underscore |
| a06-twice | the same arguments twice in one call |
| a06-split | two different complete objects in one call |
| a06-tail | one complete object and a second one, truncated |
| a06-leading | `{}`, then the real object |
| a07 | arguments truncated by length, finish tool_calls; only the open brace shows it |
| a07-length | arguments truncated, finish length |
| a07-tokens | arguments truncated after a brace in a string, finish tool_calls; completion_tokens = max_tokens |
| a07-parses | a truncated call that is valid JSON: `{}` with finish length |
| a08 | arguments that are not JSON: bare name, single quotes, trailing comma |
| a09 | the clock is called with arguments "" |
| a09-required | a search is called with arguments "", although it needs a query |
| a10-double | arguments that are a JSON text of JSON |
| a10-brace | an extra closing brace |
| a10-prose | a sentence after the object |
| a10-escaped | every quote is escaped |
| a10-newline | a literal backslash and n outside of strings |
| a10-quote | a quote inside a string is not escaped |
| a10-garbage | arguments that cannot be repaired |
| a11-D | a call as text; D: dsml dsml-v32 deepseek kimi kimi-k3 glm hermes mimo anthropic mistral mistral-args |
| a11-D-split | the same after a sentence, letter by letter |
| a11-two | two calls as text, one after the other |
| a11-unclosed | a call as text whose closing tags are missing or broken |
| a11-duplicate | a call as text, and the same call as a tool call |
| a11-fence | an answer that quotes leaked calls in a code block: all of it is text |
| a11-fence-split | the same letter by letter |
| a11-unknown | a leaked call of a tool that does not exist; the second attempt is ordinary |
| a11-unknown-always | the same at every attempt |
| a11-reasoning | a call as text inside the reasoning, and no content |
| a11-finalize | searches while calls are allowed, then a sentence and a leaked call |
| a11-finalize-bare | searches while calls are allowed, then only a leaked call |
| a12 | finish_reason `stop` with a call |
| a12-blank | finish_reason "" in every chunk before the last |
| a12-overwritten | finish_reason `tool_calls`, then `stop` in a later chunk |
| a12-null | finish_reason is always null |
| a13 | native MALFORMED_FUNCTION_CALL with finish `stop`, the end of the call as text; the second attempt is ordinary |
| a13-always | the same at every attempt |
| a13-empty | native MALFORMED_FUNCTION_CALL with finish `error`, no text; the second attempt is ordinary |
| a13-empty-always | the same at every attempt |
| a13-call | native MALFORMED_FUNCTION_CALL, and a call that must not be executed; the second attempt is ordinary |
| a13-call-always | the same at every attempt |
| a13-unexpected | native UNEXPECTED_TOOL_CALL with finish `stop`, no text; the second attempt is ordinary |
| a13-unexpected-always | the same at every attempt |
| a13-error | native MALFORMED_FUNCTION_CALL with an error object in the last chunk; the second attempt is ordinary |
| a14-parallel | a call of `multi_tool_use.parallel` with two searches inside |
| a14-namespace | a call of `default_api.search_web` |
| a14-functions | a call of `functions.search_web` |
| a14-invented | a call of `google_search`, which was not offered; then a real search |
| a14-endless | a call of another invented tool in every step |
| a15 | one search in each of two steps, both with the id `call_0` |
| a15-step | two calls in one step, both with the id `call_0` |
| a16-long | ids of 60 characters |
| a16-dots | ids with dots, colons and a slash |
| a17 | the name with arguments "", then the arguments at another index without id or name |
| a17-id | the name with arguments "", then the arguments at the same index without name, under another id |
| a17-nameless | a call, and a second one that never gets a name |
| a18 | arguments with braces in strings, each brace in a separate piece |
| a19 | the legacy function_call, finish function_call |
| a20-refusal | a call of `save_note` (a search if that tool is not offered), finish `tool_calls`, native `refusal` |
| a20-pause | the same with native `pause_turn` |
| a20-unknown | the same with an unknown native reason |
| a20-word | the same with an unknown finish_reason, and no native reason |
| a20-text-refusal | an answer with finish `stop` and native `refusal` |
| a20-text-pause | the same with native `pause_turn` |
| a20-text-unknown | the same with an unknown native reason |
| b01 | one search in each of two steps; the details of each must be sent back (an ordinary provider) |
| b02 | the provider changes with every step, unless `provider.order` names one; Gemini's signatures are bound to it |
| b02-gone | the same, and a named provider returns a 503; it answers if the results are sent as text, without calls |
| b03 | reasoning even if the request has none; Claude's signature comes alone, after the text |
| b04 | rejects all details as invalid, even correct ones; without them it answers |
| b08 | all tokens are spent on reasoning, finish length, until max_tokens is larger or the effort lower than before |
| b08-always | the same at every attempt |
| b10 | the same reasoning in `reasoning` and in `reasoning_details` |
| b10-three | the same reasoning in `reasoning_content` as well |
| b10-content | reasoning in `reasoning_content` alone |
| b11 | reasoning in the content, between `<think>` and `</think>` |
| b11-open | the same without the closing tag |
| b11-close | the same without the opening tag |
| b11-split | the same letter by letter |
| b11-stray | a stray `</think>` at the end of the content |
| b11-literal | the reasoning between the tags contains `</think>` |
| b11-quoted | an answer that quotes both tags: all of it is text |
| b12 | only encrypted details, no reasoning text |
| b14 | a search, then only reasoning |
| d02 | searches while calls are allowed, then an empty answer |
| d02-once | the same, but the second finalize step is answered |
| d02-blank | searches while calls are allowed, then white space |
| d02-early | a search, then an empty answer although calls are still allowed |
| d02-early-once | the same, but the second attempt is answered |
| d03 | calls in the finalize step too, after a sentence |
| d03-bare | calls in the finalize step too, without text |
| d04 | the same search in every step, with other word order, case, quotes and spaces |
| d05 | another search in every step while calls are allowed, then an answer |
| d06 | a sentence before the calls of each of two steps |
| d07 | a search, then "I cannot browse the internet"; the second attempt is answered |
| d07-always | the same at every attempt |
| e01 | a chunk with a top-level error in the middle of the text; whole: an error body in a 200 |
| e01-finish | finish `error` in the middle of the text, no error object |
| e01-body | an error body in a 200 with the content type of an event stream |
| e01-first | an error chunk before any text |
| e01-once | the same, the second attempt is answered |
| e01-429 | a rate limit as the first chunk of a 200; the body says when it ends |
| e01-429-once | the same, the second attempt is answered |
| e01-tool | an error chunk after complete calls, instead of their finish |
| e02 | a clean end in the middle of the text, no finish, no `[DONE]` |
| e02-tool | a clean end after complete calls, before their finish |
| e02-no-done | everything but `[DONE]` |
| e02-done-only | nothing but `[DONE]` |
| e04 | a comment after every frame |
| e04-data | `data: : keepalive` after every frame |
| e04-empty | empty data after every frame |
| e04-id | every event has an id, and a separate comment follows |
| e04-crlf | lines end in CR LF |
| e05 | U+2028, U+2029 and U+0085 inside strings, in arguments and in the answer |
| e06 | the same one byte at a time |
| e09 | Azure's filter chunks: without a choice at the beginning, without a delta at the end |
| e09-choices | chunks whose choices are absent or null |
| e09-delta | chunks whose delta is null |
| e09-usage | the usage in a chunk with `choices: []` |
| e10 | one frame is truncated, and the complete frame follows on the same line |
| e10-many | the same with every second frame |
| e14 | an answer that cites two pages, in `annotations` |
| e14-image | an answer with an image between two paragraphs, in `images` |
| e14-image-only | an image without text |
| e14-image-link | an answer with an image given by its URL |
| f01 | 429 at the first request of a run; the body says that it ends after 0.3 s, in epoch ms; then answered |
| f01-always | the same at every attempt |
| f01-day | 429 of a daily limit that ends after five hours, at every attempt |
| f01-header | 429 at the first request of a run, with `Retry-After: 1`; then answered |
| f02 | an error chunk in the middle of the text; the second attempt would be answered |
| f02-cut | the connection closes in the middle of the text; the second attempt would be answered |
| f02-tool | an error chunk after a complete call; the second attempt would be answered |
"""

from dataclasses import replace

from ..http.incoming import Incoming
from ..model.answer import rounds
from . import (
    arguments,
    attachments,
    call_deltas,
    final_answers,
    finish_reasons,
    leaked_calls,
    reasoning,
    requests,
    stop_reasons,
    transport,
)
from .attempts import Attempts
from .quirk import Quirk

QUIRKS: dict[str, Quirk] = {
    **call_deltas.QUIRKS,
    **arguments.QUIRKS,
    **leaked_calls.QUIRKS,
    **finish_reasons.QUIRKS,
    **stop_reasons.QUIRKS,
    **reasoning.QUIRKS,
    **final_answers.QUIRKS,
    **transport.QUIRKS,
    **attachments.QUIRKS,
}
PREFIX = "sim-quirk-"


def quirk_named(name: str) -> Quirk | None:
    """Return the quirk that a model name (without its family) names."""
    return QUIRKS.get(name.partition(":")[0].removeprefix(PREFIX)) if name.startswith(PREFIX) else None


def is_of_openrouter(model: str) -> bool:
    """Return whether a model id names a quirk that only OpenRouter's API can have."""
    name = model.partition("/")[2].partition(":")[0]
    quirk = quirk_named(name)
    if quirk is None or name.removeprefix(PREFIX) in transport.OF_BYTES:
        return False
    return any((quirk.completion, quirk.stream, quirk.whole, quirk.writes, quirk.request, quirk.reject))


def quirk_of(model: str, attempt: int = 1) -> Quirk | None:
    """Return the quirk that a model id names; a transient one is over at every second attempt."""
    quirk = quirk_named(model.partition("/")[2])
    if quirk and quirk.transient and attempt % 2 == 0:
        return Quirk(turn=quirk.after, lenient=quirk.lenient)
    return quirk


def apply_to_request(incoming: Incoming, attempts: Attempts) -> Incoming:
    """Apply the quirk of its model to a request: count the attempt, and change or reject the request."""
    quirk = quirk_of(incoming.model)
    if quirk is None:
        return incoming
    incoming = attempts.count(incoming)
    if quirk.first_step_only and rounds(incoming):
        incoming = replace(incoming, attempt=2)
    return requests.apply_quirk(quirk_of(incoming.model, incoming.attempt) or Quirk(), incoming)


__all__ = ["QUIRKS", "Attempts", "Quirk", "apply_to_request", "is_of_openrouter", "quirk_named", "quirk_of"]
