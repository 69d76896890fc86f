// The user's request settings, and the types of the API's data.
import type { Parameters } from "@signalbox/client";

export type {
  AnswerNode,
  AnswerRun,
  Attempt,
  ChatNode,
  Conversation,
  ConversationLine,
  Model,
  ParameterName,
  Parameters,
  Picture,
  Pricing,
  QuestionNode,
  RawEvent,
  RunRecord,
  SaveLine,
  Tool,
} from "@signalbox/client";

/** In increasing order. `auto` is not sent, so the model decides. */
export const EFFORTS = ["auto", "none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** Which tools the model must call. Empty: not sent. `tool:NAME` forces a tool in the first step. */
export type ToolChoice = "" | "auto" | "none" | "required" | `tool:${string}`;

export const FORMATS = ["", "text", "json", "schema"] as const;

/** The response format. `schema` is the typed text, kept even if another kind is selected. */
export interface ResponseFormat {
  /** Empty: not sent. */
  kind: (typeof FORMATS)[number];
  schema: string;
}

/** The user's request settings. */
export interface RequestSettings {
  /** Empty: the server's default. */
  model: string;
  effort: Effort;
  parameters: Parameters;
  /** The tools that are switched off. All other available tools are offered. */
  toolsOff: readonly string[];
  /** The tools that work on the conversation's files are offered. */
  files: boolean;
  toolChoice: ToolChoice;
  format: ResponseFormat;
  /** The system prompt. Empty if there is none. */
  system: string;
}
