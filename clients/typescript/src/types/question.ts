// The parameters of a question, by their names in the API.

export type ToolChoice = "auto" | "none" | "required" | { type: "function"; function: { name: string } };

/** How much the model reasons, in increasing order. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export interface Message {
  role: "user" | "assistant" | "system" | "tool";
  content?: string | readonly object[] | null;
  [field: string]: unknown;
}

/** docs/api.md describes each parameter. Exactly one of `prompt` and `messages` is sent. */
export interface Question {
  model: string;
  prompt?: string;
  messages?: readonly Message[];
  system?: string;
  tools?: readonly string[];
  tool_choice?: ToolChoice;
  parallel_tool_calls?: boolean;
  max_steps?: number;
  max_searches?: number;
  /** In USD. */
  max_cost?: number;
  reasoning?: { effort?: Effort; max_tokens?: number; [field: string]: unknown };
  reasoning_effort?: Effort;
  max_tokens?: number;
  max_completion_tokens?: number;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  min_p?: number;
  top_a?: number;
  frequency_penalty?: number;
  presence_penalty?: number;
  repetition_penalty?: number;
  seed?: number;
  logprobs?: boolean;
  top_logprobs?: number;
  logit_bias?: Readonly<Record<string, number>>;
  response_format?: object;
  stop?: string | readonly string[];
  provider?: object;
  models?: readonly string[];
  metadata?: Readonly<Record<string, string>>;
  user?: string;
  modalities?: readonly string[];
  finalize_hint?: string;
  conversation_id?: string;
  parent_id?: string | null;
  continue?: boolean;
  column?: number;
  /** `stop` (default): the client stops the run if you leave it early. `continue`: it does not. */
  on_disconnect?: "stop" | "continue";
  /** Send `preview` events: the files and edits of a call, while the model still writes the call. */
  previews?: boolean;
}

/** How one variant differs from the question. */
export type Variant = Pick<Question, "reasoning" | "temperature"> & { model?: string };

/** A question in a conversation, which one run per variant answers. */
export interface VariantsQuestion extends Omit<Question, "continue" | "conversation_id"> {
  conversation_id: string;
  /** One to four. */
  variants: readonly Variant[];
}
