// How a question is asked: what is set at that moment, and the body that goes to the server.
import type { ChatBody } from "../types/models.ts";
import { messageOf, type QuestionPart } from "./parts.ts";
import type { Pending } from "./pending.ts";

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

/** A question that was asked before the page was loaded, and how it was. */
export function askedBefore(
  { key, text, pictures, body }: Pending,
  parent: string | null,
): { question: QuestionPart; asking: Asking } {
  const { model, system } = body;
  return {
    question: { kind: "question", key: `question-${key}`, parent, id: undefined, text, pictures, files: [], system },
    asking: { models: [model], system: system ?? "", fields: () => body },
  };
}
