"""The wire quirks of real hosts, one model id for each: `<family>/sim-quirk-ID`, in any family.

| id | what the host does |
|---|---|
| a01 | two whole calls, both with index 0, told apart by id alone |
| a01-fragmented | the same in pieces: header and pieces of one, then of the other, no id on the pieces |
| a01-by-turns | the same in pieces by turns, each piece with the id of its call |
| a01-same-name | two searches at index 0, in pieces |
| a01-no-id | two whole searches at index 0, without ids |
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
| a06-split | two different whole objects in one call |
| a06-tail | one whole object and a second one, cut |
| a06-leading | `{}`, then the real object |
| a07 | arguments cut by length, finish tool_calls; only the open brace tells |
| a07-length | arguments cut, finish length |
| a07-tokens | arguments cut behind a brace in a text, finish tool_calls; only completion_tokens = max_tokens tells |
| a07-parses | a cut call that happens to parse: `{}` with finish length |
| a08 | arguments that are no JSON: bare name, single quotes, comma at the end |
| a09 | the clock is called with arguments "" |
| a09-required | a search is called with arguments "", although it needs a query |
| a10-double | arguments that are a JSON text of JSON |
| a10-brace | a closing brace too many |
| a10-prose | a sentence behind the object |
| a10-escaped | every quote is escaped |
| a10-newline | a literal backslash and n outside of strings |
| a10-quote | a quote inside a text is not escaped |
| a10-garbage | arguments beyond repair |
| a11-D | a call as text; D: dsml dsml-v32 deepseek kimi kimi-k3 glm hermes mimo anthropic mistral mistral-args |
| a11-D-split | the same after a sentence, letter by letter |
| a11-two | two calls as text, one behind the other |
| a11-unclosed | a call as text whose closers are missing or broken |
| a11-duplicate | a call as text, and the same call as it should be |
| a11-fence | an answer that shows leaked calls inside a code fence: all of it is text |
| a11-fence-split | the same letter by letter |
| a11-unknown | a leaked call of a tool that does not exist; the second attempt is sound |
| a11-unknown-always | the same at every attempt |
| a11-reasoning | a call as text inside the reasoning, and no content |
| a11-finalize | searches while it may, then a sentence and a leaked call |
| a11-finalize-bare | searches while it may, then a leaked call alone |
| a12 | finish_reason `stop` with a call |
| a12-blank | finish_reason "" in every chunk before the last |
| a12-overwritten | finish_reason `tool_calls`, then `stop` in a later chunk |
| a12-null | finish_reason is null to the end |
| a13 | native MALFORMED_FUNCTION_CALL with finish `stop`, the tail of the call as text; the second attempt is sound |
| a13-always | the same at every attempt |
| a13-empty | native MALFORMED_FUNCTION_CALL with finish `error`, no text; the second attempt is sound |
| a13-empty-always | the same at every attempt |
| a13-call | native MALFORMED_FUNCTION_CALL, and a call that must not be run; the second attempt is sound |
| a13-call-always | the same at every attempt |
| a13-unexpected | native UNEXPECTED_TOOL_CALL with finish `stop`, no text; the second attempt is sound |
| a13-unexpected-always | the same at every attempt |
| a13-error | native MALFORMED_FUNCTION_CALL with an error object on the chunk that ends; the second attempt is sound |
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
| a18 | arguments with braces in their strings, every brace in a separate piece |
| a19 | the legacy function_call, finish function_call |
| a20-refusal | a note to save (a search where that tool is not offered), finish `tool_calls`, native `refusal` |
| a20-pause | the same with native `pause_turn` |
| a20-unknown | the same with a native word that is new |
| a20-word | the same with a new word in finish_reason, and no native word |
| a20-text-refusal | an answer with finish `stop` and native `refusal` |
| a20-text-pause | the same with native `pause_turn` |
| a20-text-unknown | the same with a native word that is new |
| b01 | one search in each of two steps; the details of each must come back (an ordinary host) |
| b02 | the host changes with every step, unless `provider.order` pins it; Gemini's seals hold on one host only |
| b02-gone | the same, and a pinned host answers 503; told in words, without calls and seals, it is answered |
| b03 | reasoning even where the request has none; with Claude words, words, then a signature alone |
| b04 | details that come back are refused as invalid, right or not; without them it is answered |
| b08 | all tokens go into reasoning, finish length, until max_tokens is larger or the effort lower than before |
| b08-always | the same at every attempt |
| b10 | the same reasoning in `reasoning` and in `reasoning_details` |
| b10-three | the same reasoning in `reasoning_content` as well |
| b10-content | reasoning in `reasoning_content` alone |
| b11 | reasoning in the content, between `<think>` and `</think>` |
| b11-open | the same without the closing tag |
| b11-close | the same without the opening tag |
| b11-split | the same letter by letter |
| b11-stray | a stray `</think>` at the end of the content |
| b11-literal | the reasoning between the tags speaks of `</think>` |
| b11-quoted | an answer that speaks of both tags: all of it is text |
| b12 | sealed details only, no words of reasoning |
| b14 | a search, then reasoning and nothing else |
| d02 | searches while it may, then says nothing |
| d02-once | the same, but the second finalize is answered |
| d02-blank | searches while it may, then says white space |
| d02-early | a search, then nothing, although it may still call |
| d02-early-once | the same, but the second attempt is answered |
| d03 | calls in finalize as well, with a sentence before the call |
| d03-bare | calls in finalize as well, and says nothing |
| d04 | the same search in every step, in other order, case, quotes and spaces |
| d05 | another search in every step while it may, then an answer |
| d06 | a sentence before the calls of each of two steps |
| d07 | a search, then "I cannot browse the internet"; the second attempt is answered |
| d07-always | the same at every attempt |
| e01 | a chunk with a top-level error in the middle of the text; whole: an error body in a 200 |
| e01-finish | finish `error` in the middle of the text, no error object |
| e01-body | an error body in a 200 that calls itself an event stream |
| e01-first | an error chunk before any text |
| e01-once | the same, the second attempt is answered |
| e01-429 | a rate limit as the first chunk of a 200, its end in the body |
| e01-429-once | the same, the second attempt is answered |
| e01-tool | an error chunk behind whole calls, in the place of their finish |
| e02 | a clean end in the middle of the text, no finish, no `[DONE]` |
| e02-tool | a clean end behind whole calls, before their finish |
| e02-no-done | everything but `[DONE]` |
| e02-done-only | nothing but `[DONE]` |
| e04 | a comment behind every frame |
| e04-data | `data: : keepalive` behind every frame |
| e04-empty | empty data behind every frame |
| e04-id | every event has an id, and a separate comment follows |
| e04-crlf | lines end in CR LF |
| e05 | U+2028, U+2029 and U+0085 inside strings, in arguments and in the answer |
| e06 | the same one byte at a time |
| e09 | Azure's filter chunks: without a choice at the beginning, without a delta at the end |
| e09-choices | chunks whose choices are absent or null |
| e09-delta | chunks whose delta is null |
| e09-usage | the usage in a chunk with `choices: []` |
| e10 | one frame is cut and the whole one glued to it |
| e10-many | the same with every second frame |
| e14 | an answer that cites two pages, in `annotations` |
| e14-image | an answer with an image between two paragraphs, in `images` |
| e14-image-only | an image and no words |
| e14-image-link | an answer with an image that is an address |
| f01 | 429 at the first request of a run, its end, 0.3 s away, in the body in epoch ms; then answered |
| f01-always | the same at every attempt |
| f01-day | 429 of a limit per day, over in five hours, at every attempt |
| f01-header | 429 at the first request of a run, with `Retry-After: 1`; then answered |
| f02 | an error chunk in the middle of the text; the second attempt would be answered |
| f02-cut | the socket is closed in the middle of the text; the second attempt would be answered |
| f02-tool | an error chunk behind a whole call; the second attempt would be answered |
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
    """Return the quirk that the part of a model id after its slash names."""
    return QUIRKS.get(name.partition(":")[0].removeprefix(PREFIX)) if name.startswith(PREFIX) else None


def quirk_of(model: str, attempt: int = 1) -> Quirk | None:
    """Return the quirk that a model id names; one that passes is over at the second attempt."""
    quirk = quirk_named(model.partition("/")[2])
    if quirk and quirk.transient and attempt % 2 == 0:
        return Quirk(turn=quirk.after, lenient=quirk.lenient)
    return quirk


def received(incoming: Incoming, attempts: Attempts) -> Incoming:
    """Return the request as the host of its model understands it, or refuse it."""
    quirk = quirk_of(incoming.model)
    if quirk is None:
        return incoming
    incoming = attempts.count(incoming)
    if quirk.first_step_only and rounds(incoming):
        incoming = replace(incoming, attempt=2)
    return requests.apply_quirk(quirk_of(incoming.model, incoming.attempt) or Quirk(), incoming)


__all__ = ["QUIRKS", "Attempts", "Quirk", "quirk_named", "quirk_of", "received"]
