// The request settings at the time of sending, and the request body.
import type { ChatBody } from "../../types/models.ts";
import { type ChatPart, columnOf, messageOf, type QuestionPart } from "./chatParts.ts";
import type { UnconfirmedMessage } from "./unconfirmedMessages.ts";

export interface RequestSetup {
  /** One model, or up to four that are compared. */
  models: readonly string[];
  /** The system prompt of a new chat. Empty if there is none. */
  system: string;
  /** Further fields of the request body for this model. */
  fields: (model: string) => Partial<ChatBody>;
}

export interface Target {
  conversationId: string;
  model: string;
  /** The server's id of the part that the question follows. Null at the root. */
  parentId: string | null;
}

/** Contains the message if the server does not have it yet, otherwise only its id. */
export function requestBody(
  question: QuestionPart,
  { conversationId, model, parentId }: Target,
  asking: RequestSetup,
): ChatBody {
  const shared = {
    ...asking.fields(model),
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

/** The setup for answering a question again, in the same column. */
export function setupForRetry(
  asking: RequestSetup,
  parts: ReadonlyMap<string, ChatPart>,
  question: string,
  model = asking.models[0],
): RequestSetup {
  const fields = (id: string) => {
    const { column: _, ...others } = asking.fields(id);
    const column = columnOf(parts, question, id);
    return column === undefined ? others : { ...others, column };
  };
  return { ...asking, fields, models: model === undefined ? [] : [model] };
}

/** The setup of a stored message. */
export function setupOf({ asks }: UnconfirmedMessage): RequestSetup {
  return {
    models: asks.map(({ body }) => body.model),
    system: asks[0]?.body.system ?? "",
    fields: (model) => settingsIn(asks.find(({ body }) => body.model === model)?.body),
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
