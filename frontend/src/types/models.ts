// What the page knows of a run: one ordered list of items, rebuilt from the run's events alone.
import type { Effort, Parameters } from "./api.ts";
import type { Call, Done } from "./events.ts";
import type { ChatEvent } from "./receivedEvents.ts";

export type Category = Call["category"];
export type Visibility = Call["visibility"];
export type Loop = NonNullable<Done["loop"]>;
/** The contract's statuses, and whatever a newer server may add. */
export type EndStatus = Done["status"] | (string & {});

export interface Link {
  /** The server's number for this source, stable in the run; absent when the tool gives none. */
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
  /** The model reasons, but its host shows no words of it. */
  hidden: boolean;
  running: boolean;
  step?: number;
  startedAt?: number;
  endedAt?: number;
}

export type CallStatus = "waiting" | "running" | "done" | "failed" | "cancelled";

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
  /** The id under which its later events came, where that was not the announced one. */
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
  /** A sentence of Signalbox in place of a missing answer; it is not replayed as the model's words. */
  synthetic: boolean;
  /** Images that stand here in place of words: data URLs, and addresses that are shown as links. */
  images?: readonly string[];
  /** Pages that the provider cites for the words. */
  links?: readonly Link[];
}

export interface WarningItem {
  kind: "warning";
  id: string;
  message: string;
  code?: string;
  step?: number;
}

export type RunItem = ReasoningItem | CallItem | ContentItem | WarningItem;

/** How the run ended. `local`: the page says so itself, since no `done` came. */
export interface RunEnd extends Omit<Partial<Done>, "status" | "type" | "done" | "v" | "run_id"> {
  status: EndStatus;
  local?: true;
  /** The model said that it will not answer; no filter took its words. */
  declined?: true;
}

export interface Unsaved {
  text: string;
  reasoning: string;
}

export interface RunTrace {
  /** The shape of this object; a saved trace of another version is not read. */
  schema: 1;
  /** Empty until the server has named the run. */
  runId: string;
  /** The model that was asked for. */
  model: string;
  loop?: Loop;
  contract?: string;
  items: readonly RunItem[];
  end?: RunEnd;
  /** What this page had shown of the answer and a crash of the server lost; no reload brings it back. */
  unsaved?: Unsaved;
  /** Server times in epoch milliseconds: the first and the last that an event carried. */
  firstAt?: number;
  lastAt?: number;
  /** From the start to the model's first part and to the end: by the server's clock, or else by the page's. */
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

/** What is posted to `/api/chat/stream`; the conversation itself is kept by the server. */
export interface ChatBody extends Parameters {
  model: string;
  conversation_id: string;
  /** What the new message follows; null: nothing, a new beginning. */
  parent_id: string | null;
  /** The answer `parent_id` goes on where it stopped. */
  continue?: true;
  /** The one new message; without it the message `parent_id` is answered again. */
  messages?: readonly ChatMessage[];
  system?: string;
  tools?: readonly string[];
  tool_choice?: WireToolChoice;
  response_format?: WireFormat;
  reasoning?: { effort: Exclude<Effort, "auto"> };
  /** Place among answers compared side by side, from 0. */
  column?: number;
  on_disconnect: "continue";
}

export interface Readiness {
  ready: boolean;
  simulated: boolean;
}

export type LeverState = "off" | "percent" | "on";

/** How the lever of TOOL_LOOP_V2 stands. */
export interface Lever {
  /** Undefined: never set. */
  state: LeverState | undefined;
  percent: number;
  /** TOOL_LOOP_V2 in the server's environment: false is the kill switch, undefined not set. */
  environment: boolean | undefined;
  /** What that means for the next run, as a sentence. */
  effective: string;
}

export interface RunLine {
  runId: string;
  status: EndStatus | "running";
  code: string | undefined;
  model: string;
  loop: string;
  /** Epoch milliseconds. */
  started: number;
  ms: number | undefined;
  steps: number;
  cost: number | undefined;
  /** The simulator answered: its cost was not paid. */
  simulated: boolean;
  /** The name of the API token that it was asked with; empty: none, or that is not told. */
  owner: string;
}

export type { ChatEvent };
