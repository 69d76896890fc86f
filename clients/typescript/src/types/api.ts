// Data of the API besides a run's events, in camel case and with times in milliseconds.
import type { Done } from "./events.ts";

/** The contract's statuses, and others that newer servers may add. */
export type EndStatus = Done["status"] | (string & {});

/** Numeric request parameters by API name: sampling parameters and the limits of a run. */
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

/** USD per token. Undefined if the catalogue has no price. */
export interface Pricing {
  prompt: number | undefined;
  completion: number | undefined;
}

export interface Model {
  id: string;
  name: string;
  /** `tools`, `reasoning`, `images`, and others that newer servers may add. */
  badges: readonly string[];
  /** In tokens. */
  context: number | undefined;
  maxOutput: number | undefined;
  pricing: Pricing;
  /** The supported parameters. Empty if unknown. */
  parameters: readonly string[];
  /** The model is not in the server's list. */
  isGone?: true;
  /** The upstreams that serve the model, in the order of fallback, if the server has several. */
  upstreams?: readonly string[];
}

export interface Tool {
  name: string;
  /** Title and summary are for people, name and description for models. */
  title: string;
  summary: string;
  description: string;
  category: string;
  visibility: string;
  /** Whether its results have a DataTable as artifact. */
  showsTable: boolean;
  /** Offered only to requests that name it. */
  onRequest: boolean;
  /** Works on the files of a conversation, so it needs one. */
  needsConversation: boolean;
  /** Why the tool is not available, as a sentence. Undefined if it is. */
  unavailable: string | undefined;
}

export interface Picture {
  id: string;
  name: string;
  /** A `data:` address. */
  url: string;
}

/** A node of a conversation: a message, or an answer, whose id is its run's id. */
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
  /** Names of files that another client attached. */
  files: readonly string[];
  system: string | undefined;
}

export interface AnswerNode extends NodeBase {
  role: "assistant";
  /** Undefined if the answer comes from another client's history. */
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
  /** The simulator answered, so the cost was not paid. */
  simulated: boolean;
  steps: number;
  /** From the start of the run to the model's first part. */
  firstTokenMs: number | undefined;
  provider: string | undefined;
  /** The column of a comparison. */
  column: number | undefined;
  /** The duration. Undefined while it is running. */
  ms: number | undefined;
}

/** A line in the list of conversations. */
export interface ConversationLine {
  id: string;
  title: string;
  created: number;
  updated: number;
  messages: number;
  /** The cost of its runs, including what simulated ones would have cost. */
  cost: number | undefined;
  /** The cost of its runs without simulated ones. */
  paid: number | undefined;
  model: string;
  isRunning: boolean;
  /** The text around the search match. */
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

/** One request to the provider. A retried step has several. Times are epoch milliseconds. */
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
  /** The name of the upstream, if the server has several. */
  upstream: string | undefined;
  generationId: string | undefined;
  finishReason: string | undefined;
  nativeFinishReason: string | undefined;
  usage: { input: number; output: number; reasoning: number; cached: number; cost: number | undefined } | undefined;
  error: string | undefined;
  code: string | undefined;
  streamed: boolean;
  cancelled: string | undefined;
  settled: boolean;
  /** The id of the tool call that sent the request. */
  toolCall: string | undefined;
  /** The server's JSON. */
  raw: Readonly<Record<string, unknown>>;
}

/** The server's record of a run, besides its events. */
export interface RunRecord {
  runId: string;
  status: EndStatus | "running";
  code: string | undefined;
  model: string;
  loop: string;
  /** The API that the client used. Empty if the server does not send it. */
  protocol: string;
  flag: { variant: string; reason: string } | undefined;
  startedAt: number;
  endedAt: number | undefined;
  cost: number | undefined;
  costEstimated: boolean;
  /** The simulator answered, so the cost was not paid. */
  simulated: boolean;
  /** When the final cost of a stopped run arrived. */
  settledAt: number | undefined;
  conversationId: string | undefined;
  /** The run that this one continues. */
  continues: string | undefined;
  /** The request without its texts. */
  request: Readonly<Record<string, unknown>>;
  attempts: readonly Attempt[];
  /** The requests that tools sent, such as those for images. */
  toolAttempts: readonly Attempt[];
}

/** An event as received, for the inspector. */
export interface RawEvent {
  seq: number;
  event: Readonly<Record<string, unknown>> & { readonly type: string };
}

export interface RunLine {
  runId: string;
  status: EndStatus | "running";
  code: string | undefined;
  model: string;
  loop: string;
  /** Why the server chose the loop. */
  flag: { variant: string; reason: string } | undefined;
  /** The API that the client used. Empty if the server does not send it. */
  protocol: string;
  /** Epoch milliseconds. */
  started: number;
  ms: number | undefined;
  steps: number;
  /** USD. */
  cost: number | undefined;
  costEstimated: boolean;
  /** When the final cost of a stopped run arrived. */
  settledAt: number | undefined;
  conversationId: string | undefined;
  /** The node of the conversation that the run answers. */
  parentId: string | undefined;
  /** The simulator answered, so the cost was not paid. */
  simulated: boolean;
  /** The name of the API token that was used. Empty if there was none or the server does not send it. */
  owner: string;
}

export interface Readiness {
  ready: boolean;
  simulated: boolean;
}
