// The page's view of a run: an ordered list of items, built only from the run's events.
import type { Call, Done, EndStatus } from "@signalbox/client";
import type { Effort, Parameters } from "./api.ts";

export type {
  ChatEvent,
  EndStatus,
  Readiness,
  RunLine,
} from "@signalbox/client";

export type Category = Call["category"];
export type Visibility = Call["visibility"];
export type Loop = NonNullable<Done["loop"]>;

export interface Link {
  /** The server's number for this source, stable within the run. Absent if the tool has none. */
  n?: number;
  title: string;
  url: string;
  host: string;
  snippet: string;
}

export interface ReasoningItem {
  kind: "reasoning";
  id: string;
  text: string;
  /** The provider hides the text of the reasoning. */
  hidden: boolean;
  running: boolean;
  step?: number;
  startedAt?: number;
  endedAt?: number;
}

/** `handed`: the client executes the call, so the run has no result of it. */
export type CallStatus = "waiting" | "running" | "done" | "failed" | "cancelled" | "handed";

export interface CallItem {
  kind: "call";
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  argumentsRaw?: string;
  category: Category;
  visibility: Visibility;
  status: CallStatus;
  cached: boolean;
  result?: unknown;
  error?: string;
  code?: string;
  links: readonly Link[];
  /** What the tool returned for people beside the result, such as a table. */
  artifact?: unknown;
  /** The id of its later events, if it differs from the announced one. */
  alias?: string;
  step?: number;
  startedAt?: number;
  endedAt?: number;
}

export interface ContentItem {
  kind: "content";
  id: string;
  text: string;
  refusal: boolean;
  /** A sentence by Signalbox in place of a missing answer. It is not sent to the model again. */
  synthetic: boolean;
  /** Images at this place: data URLs, and remote addresses, which are shown as links. */
  images?: readonly string[];
  /** Pages that the provider cites for this text. */
  links?: readonly Link[];
}

/** A call that the model is still writing, as far as its previews have arrived. */
export interface CallPreview {
  id: string;
  /** The tool. */
  name: string;
  step?: number;
  /** The JSON Pointer of the argument that grows. All other arguments in `texts` are complete. */
  key: string;
  /** The string arguments so far, by JSON Pointer. */
  texts: Readonly<Record<string, string>>;
}

export interface WarningItem {
  kind: "warning";
  id: string;
  message: string;
  code?: string;
  step?: number;
}

export type RunItem = ReasoningItem | CallItem | ContentItem | WarningItem;

/** How the run ended. `local`: the page ended it itself, because no `done` arrived. */
export interface RunEnd extends Omit<Partial<Done>, "status" | "type" | "done" | "v" | "run_id"> {
  status: EndStatus;
  local?: true;
  /** The model itself declined to answer. No filter removed its text. */
  declined?: true;
}

export interface Unsaved {
  text: string;
  reasoning: string;
}

export interface RunTrace {
  /** The version of this object. Saved traces of other versions are not read. */
  schema: 1;
  /** Empty until it is known. */
  runId: string;
  /** The requested model. */
  model: string;
  loop?: Loop;
  contract?: string;
  items: readonly RunItem[];
  /** The calls that are not announced yet, in the order in which they began. Absent if there are none. */
  previews?: readonly CallPreview[];
  end?: RunEnd;
  /** Content that this page has shown but that a server crash lost. A reload does not restore it. */
  unsaved?: Unsaved;
  /** Server times in epoch milliseconds: the first and the last one in an event. */
  firstAt?: number;
  lastAt?: number;
  /** From the start to the model's first part and to the end, by the server's clock or else by the page's. */
  firstEventMs?: number;
  totalMs?: number;
}

export interface ChatMessage {
  role: "user";
  content: string | readonly ContentPart[];
}

export type ContentPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

export type WireToolChoice = "auto" | "none" | "required" | { type: "function"; function: { name: string } };

export type WireFormat =
  | { type: "text" | "json_object" }
  | { type: "json_schema"; json_schema: { name: string; schema: object; strict?: boolean } };

/** The body of `POST /api/chat/stream`. The server stores the conversation itself. */
export interface ChatBody extends Parameters {
  model: string;
  conversation_id: string;
  /** The part that the new message follows. Null starts a new branch at the root. */
  parent_id: string | null;
  /** Continue the answer `parent_id`. */
  continue?: true;
  /** The new message. Without it, the message `parent_id` is answered again. */
  messages?: readonly ChatMessage[];
  system?: string;
  tools?: readonly string[];
  /** Send `preview` events: the files and edits of a call, while the model still writes the call. */
  previews?: true;
  tool_choice?: WireToolChoice;
  response_format?: WireFormat;
  reasoning?: { effort: Exclude<Effort, "auto"> };
  /** The column of a comparison, from 0. */
  column?: number;
  on_disconnect: "continue";
}

export type FlagState = "off" | "percent" | "on";

/** A configured upstream and its circuit breaker. */
export interface UpstreamLine {
  /** Empty if no file configures several. */
  name: string;
  dialect: string;
  host: string;
  state: "closed" | "open" | "half_open";
  /** Consecutive failed requests. */
  failures: number;
  /** The code of the last failure of the upstream itself. */
  lastError: string | undefined;
}

/** The state of the feature flag TOOL_LOOP_V2. */
export interface LoopFlag {
  /** Undefined if no override is stored. */
  state: FlagState | undefined;
  percent: number;
  /** TOOL_LOOP_V2 in the server's environment: false is the kill switch. Undefined if not set. */
  environment: boolean | undefined;
  /** The effect on the next run, as a sentence. */
  effective: string;
}
