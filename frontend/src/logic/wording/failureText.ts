// Splits an error into the page's title, the server's details, and the provider's message.
import type { RunEnd } from "../../types/models.ts";
import { endingOf } from "./statusAndAmounts.ts";

export interface FailureText {
  title: string;
  /** The server's text after the title. Empty if there is none. */
  detail: string;
  quote: Quote | undefined;
}

/** A message that is not from Signalbox. */
export interface Quote {
  who: string;
  words: string;
}

/** The page's title for each error code of the contract. */
export const TITLES: Readonly<Record<string, string>> = {
  UPSTREAM_AUTH: "The provider rejected the server's API key.",
  UPSTREAM_CREDITS: "The account has too little credit for this request.",
  UPSTREAM_FORBIDDEN: "The provider refused this request.",
  UPSTREAM_NOT_FOUND: "The provider cannot find this model.",
  UPSTREAM_NO_TOOLS: "No provider of this model supports tools.",
  UPSTREAM_NO_IMAGES: "No provider of this model accepts images.",
  UPSTREAM_NO_PARAMS: "No provider of this model supports all parameters of the request.",
  UPSTREAM_SIGNATURE: "The provider rejected the reasoning of an earlier step.",
  UPSTREAM_REJECTED: "The provider rejected this request.",
  UPSTREAM_TOO_LARGE: "The request is too large for the provider.",
  CONTEXT_LENGTH_EXCEEDED: "The conversation is too long for this model.",
  RATE_LIMIT: "Too many requests in a short time.",
  UPSTREAM_OVERLOADED: "The provider is overloaded.",
  UPSTREAM_ERROR: "The provider returned an error.",
  UPSTREAM_TIMEOUT: "The provider took too long.",
  UPSTREAM_STALLED: "The provider stopped sending.",
  UPSTREAM_UNREACHABLE: "The provider cannot be reached.",
  UPSTREAM_PROTOCOL: "The provider's response cannot be read.",
  STREAM_CUT: "The answer broke off before it was complete.",
  EMPTY_ANSWER: "The model returned an empty answer.",
  MALFORMED_CALL: "The model made a tool call that cannot be read.",
  LENGTH: "The answer reached its length limit.",
  REASONING_LENGTH: "The model used up its length limit while reasoning, and gave no answer.",
  CONTENT_FILTER: "The answer was withheld by a content filter.",
  TURN_PAUSED: "The provider paused the model before the answer was complete.",
  STOP_UNKNOWN: "The provider stopped for a reason that Signalbox does not know.",
  DETACHED_TIMEOUT: "The answer was stopped because no client was connected for too long.",
  SERVER_SHUTDOWN: "The server was shut down during this answer.",
  SERVER_CRASH: "The server stopped unexpectedly during this answer.",
  BUDGET_REACHED: "The run reached its cost limit.",
  RUN_TOO_LARGE: "The run has become too large to store.",
  INTERNAL: "Signalbox had an internal error.",
};

/** The contract's sentences that the page words differently, because its users do not know the term "upstream". */
export const CONTRACT_SENTENCES: Readonly<Record<string, string>> = {
  UPSTREAM_AUTH: "The upstream rejected the API key.",
  UPSTREAM_FORBIDDEN: "The upstream refused this request.",
  UPSTREAM_NOT_FOUND: "The upstream has no endpoint for this request.",
  UPSTREAM_REJECTED: "The upstream rejected the request.",
  UPSTREAM_TOO_LARGE: "The request is too large for the upstream.",
  UPSTREAM_UNREACHABLE: "The upstream cannot be reached.",
  UPSTREAM_PROTOCOL: "The upstream sent a response that cannot be read.",
};

const GONE: Readonly<Record<string, string>> = {
  UNKNOWN_CONVERSATION: "This conversation no longer exists.",
  UNKNOWN_MESSAGE: "The message before this one no longer exists.",
};

export function failureText(end: RunEnd, model: string): FailureText {
  const { code = "", error = "" } = end;
  // The API's message is written for programs.
  if (code === "UNKNOWN_MODEL" && model)
    return { title: `There is no model called \u201c${model}\u201d.`, detail: "", quote: undefined };
  // So are the messages about deleted data, which name fields and paths of the API.
  const gone = GONE[code];
  if (gone) return { title: gone, detail: "", quote: undefined };
  const { ours, quote } = partsOf(error);
  const title = TITLES[code];
  if (!title) return { title: ours || `${endingOf(end).label}.`, detail: "", quote };
  const known = CONTRACT_SENTENCES[code] ?? title;
  if (ours.startsWith(known)) return { title, detail: ours.slice(known.length).trim(), quote };
  // "… for a reason that Signalbox does not know: pause.": the server's version of the sentence has more detail.
  return ours.startsWith(known.slice(0, -1)) ? { title: ours, detail: "", quote } : { title, detail: ours, quote };
}

const QUOTE_MARK = " said: ";
const NAMELESS = "The upstream";

/** "The provider is overloaded. OpenAI said: Try later": the server appends the quote to its own sentences. */
function partsOf(error: string): { ours: string; quote: Quote | undefined } {
  const at = error.indexOf(QUOTE_MARK);
  const start = at < 0 ? -1 : error.lastIndexOf(". ", at);
  if (start < 0) return { ours: error, quote: undefined };
  const who = error.slice(start + 2, at);
  const words = error.slice(at + QUOTE_MARK.length);
  return { ours: error.slice(0, start + 1), quote: { who: who === NAMELESS ? "The provider" : who, words } };
}
