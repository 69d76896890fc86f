// The request settings at the time of sending, and the request body.
import type { ChatBody } from "../../types/models.ts";
import { type ChatPart, columnOf, messageOf, type QuestionPart, type Slot } from "./chatParts.ts";
import type { UnconfirmedMessage } from "./unconfirmedMessages.ts";

export interface RequestSetup {
  /** The model of each answer: up to four that are compared, or one model several times. */
  models: readonly string[];
  /** The system prompt of a new chat. Empty if there is none. */
  system: string;
  /** Further fields of the request body for this model, which is at the index `at` of `models`. */
  fields: (model: string, at: number) => Partial<ChatBody>;
}

export interface Target {
  conversationId: string;
  model: string;
  /** The column of the answer, if it is compared. */
  column: number | undefined;
  /** The index of the model in the setup. */
  at: number;
  /** The server's id of the part that the question follows. Null at the root. */
  parentId: string | null;
}

/** The slot of the answer that a request asks for. */
export const slotIn = ({ model, column }: ChatBody): Slot => ({ model, column });

/** Contains the message if the server does not have it yet, otherwise only its id. */
export function requestBody(
  question: QuestionPart,
  { conversationId, model, column, at, parentId }: Target,
  asking: RequestSetup,
): ChatBody {
  const { column: _, ...fields } = asking.fields(model, at);
  const shared = {
    ...fields,
    ...(column !== undefined && { column }),
    model,
    conversation_id: conversationId,
    on_disconnect: "continue",
  } as const;
  if (question.id !== undefined) return { ...shared, parent_id: question.id };
  return {
    ...shared,
    parent_id: parentId,
    messages: [messageOf(question)],
    ...(question.system !== undefined && { system: question.system }),
  };
}

/** The setup for answering a question again, in the column `column` or in that of the model's earlier answer. */
export function setupForRetry(
  asking: RequestSetup,
  parts: ReadonlyMap<string, ChatPart>,
  question: string,
  model = asking.models[0],
  column = columnOf(parts, question, model ?? ""),
): RequestSetup {
  const fields = (id: string) => {
    const { column: _, ...others } = asking.fields(id, 0);
    return column === undefined ? others : { ...others, column };
  };
  return { ...asking, fields, models: model === undefined ? [] : [model] };
}

/** The setup of a stored message. */
export function setupOf({ asks }: UnconfirmedMessage): RequestSetup {
  return {
    models: asks.map(({ body }) => body.model),
    system: asks[0]?.body.system ?? "",
    fields: (_, at) => settingsIn(asks[at]?.body),
  };
}

function settingsIn(body: ChatBody | undefined): Partial<ChatBody> {
  const {
    model: _,
    conversation_id: _c,
    parent_id: _p,
    messages: _m,
    system: _s,
    on_disconnect: _d,
    ...settings
  } = {
    ...body,
  };
  return settings;
}
