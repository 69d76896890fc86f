// What the page asks of the server beside a run's events, in the page's own words: camel case, times in milliseconds.
import type { EndStatus } from "./models.ts";

/** From less to more; `auto` sends nothing, so that the model decides. */
export const EFFORTS = ["auto", "none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** Numbers that a request can carry, by the API's name: sampling parameters and the limits of a run. */
export type ParameterName =
  | "temperature"
  | "top_p"
  | "top_k"
  | "min_p"
  | "max_tokens"
  | "frequency_penalty"
  | "presence_penalty"
  | "repetition_penalty"
  | "seed"
  | "max_steps"
  | "max_searches";
export type Parameters = Readonly<Partial<Record<ParameterName, number>>>;

/** Which tools the model has to call; empty: not sent. `tool:NAME` forces one tool in the first step. */
export type ToolChoice = "" | "auto" | "none" | "required" | `tool:${string}`;

export const FORMATS = ["", "text", "json", "schema"] as const;

/** The form of the answer. `schema` is the text as it was typed; it is kept when another kind is chosen. */
export interface ResponseFormat {
  /** Empty: not sent. */
  kind: (typeof FORMATS)[number];
  schema: string;
}

/** How questions are asked: what the reader has set, kept over visits. */
export interface AskSettings {
  /** Empty: the server's default. */
  model: string;
  effort: Effort;
  parameters: Parameters;
  /** Names of the tools that are switched off; all others that are available are offered. */
  toolsOff: readonly string[];
  toolChoice: ToolChoice;
  format: ResponseFormat;
  /** Instructions for the model; empty: none. */
  system: string;
}

/** USD per token, as the catalogue prices it; undefined where it does not say. */
export interface Pricing {
  prompt: number | undefined;
  completion: number | undefined;
}

export interface Model {
  id: string;
  name: string;
  /** `tools`, `reasoning`, `images`, and whatever a newer server adds. */
  badges: readonly string[];
  /** In tokens. */
  context: number | undefined;
  maxOutput: number | undefined;
  pricing: Pricing;
  /** Names of the parameters that its hosts take; empty where that is unknown. */
  parameters: readonly string[];
  /** There is a list of models, and it does not have this one. */
  isGone?: true;
}

export interface Tool {
  name: string;
  /** For people, as is the summary; the name and the description are for models. */
  title: string;
  summary: string;
  description: string;
  category: string;
  visibility: string;
  /** A sentence why it cannot be offered here; undefined where it can. */
  unavailable: string | undefined;
}

export interface Picture {
  id: string;
  name: string;
  /** A `data:` address. */
  url: string;
}

/** A node of a conversation: a message, or an answer, whose id is its run's. */
export type ChatNode = QuestionNode | AnswerNode;

interface NodeBase {
  id: string;
  parentId: string | null;
  /** Epoch milliseconds. */
  created: number;
  text: string;
}

export interface QuestionNode extends NodeBase {
  role: "user";
  pictures: readonly Picture[];
  /** Names of files that came with it by another client. */
  files: readonly string[];
  system: string | undefined;
}

export interface AnswerNode extends NodeBase {
  role: "assistant";
  /** Undefined: another client told it as its history, and no run of ours made it. */
  run: AnswerRun | undefined;
}

export interface AnswerRun {
  status: EndStatus | "running";
  code: string | undefined;
  model: string;
  loop: string;
  /** USD. */
  cost: number | undefined;
  costEstimated: boolean;
  /** The simulator answered: its cost was not paid. */
  simulated: boolean;
  steps: number;
  /** From its start to the model's first part. */
  firstTokenMs: number | undefined;
  provider: string | undefined;
  /** Its place among answers compared side by side. */
  column: number | undefined;
  /** How long it took; undefined while it goes on. */
  ms: number | undefined;
}

/** One line of the list of conversations. */
export interface ConversationLine {
  id: string;
  title: string;
  created: number;
  updated: number;
  messages: number;
  /** What its runs cost; simulated ones count with what they would have cost. */
  cost: number | undefined;
  /** The same without simulated runs. */
  paid: number | undefined;
  model: string;
  isRunning: boolean;
  /** The words around what was searched for. */
  match: string | undefined;
}

export interface Conversation {
  id: string;
  title: string;
  leafId: string | null;
  nodes: readonly ChatNode[];
}

export interface SaveLine {
  id: string;
  runId: string;
  title: string;
  created: number;
  model: string;
  status: EndStatus;
}

/** One request to the provider; a step that was tried again has several. Times are epoch milliseconds. */
export interface Attempt {
  step: number;
  number: number;
  final: boolean;
  model: string;
  tools: readonly string[];
  startedAt: number;
  firstPartAt: number | undefined;
  endedAt: number | undefined;
  servedModel: string | undefined;
  provider: string | undefined;
  generationId: string | undefined;
  finishReason: string | undefined;
  nativeFinishReason: string | undefined;
  usage: { input: number; output: number; reasoning: number; cached: number; cost: number | undefined } | undefined;
  error: string | undefined;
  code: string | undefined;
  streamed: boolean;
  cancelled: string | undefined;
  settled: boolean;
  /** As the server told it. */
  raw: Readonly<Record<string, unknown>>;
}

/** What the server knows of a run beside its events. */
export interface RunRecord {
  runId: string;
  status: EndStatus | "running";
  code: string | undefined;
  model: string;
  loop: string;
  flag: { variant: string; reason: string } | undefined;
  startedAt: number;
  endedAt: number | undefined;
  cost: number | undefined;
  costEstimated: boolean;
  /** The simulator answered: its cost was not paid. */
  simulated: boolean;
  /** When the true cost of a stopped run came. */
  settledAt: number | undefined;
  conversationId: string | undefined;
  /** The run whose answer it continues. */
  continues: string | undefined;
  /** The request as it was asked, without its texts. */
  request: Readonly<Record<string, unknown>>;
  attempts: readonly Attempt[];
}

/** An event as it came, for the inspector. */
export interface RawEvent {
  seq: number;
  event: Readonly<Record<string, unknown>> & { readonly type: string };
}
