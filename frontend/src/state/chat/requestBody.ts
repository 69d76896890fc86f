// How a question is asked: what is set at that moment, and the body that goes to the server.
import type { ChatBody } from "../../types/models.ts";
import { type ChatPart, columnOf, messageOf, type QuestionPart } from "./chatParts.ts";
import type { Pending } from "./unconfirmedMessages.ts";

export interface Asking {
  /** One, or up to four side by side. */
  models: readonly string[];
  /** Instructions of a new chat; empty: none. */
  system: string;
  /** What else goes into the body for this model. */
  fields: (model: string) => Partial<ChatBody>;
}

export interface Target {
  conversationId: string;
  model: string;
  /** What the question follows, by the server's name; null: nothing. */
  parentId: string | null;
}

/** With its words where the server has no name for it yet; else the model is asked for its answer to that name. */
export function bodyOf(question: QuestionPart, { conversationId, model, parentId }: Target, asking: Asking): ChatBody {
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

/** One more answer to a question, in the column that the model has among the others. */
export function askingAgain(
  asking: Asking,
  parts: ReadonlyMap<string, ChatPart>,
  question: string,
  model = asking.models[0],
): Asking {
  const fields = (id: string) => {
    const { column: _, ...others } = asking.fields(id);
    const column = columnOf(parts, question, id);
    return column === undefined ? others : { ...others, column };
  };
  return { ...asking, fields, models: model === undefined ? [] : [model] };
}

/** How a question was asked that this tab has kept. */
export function askingOf({ asks }: Pending): Asking {
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
