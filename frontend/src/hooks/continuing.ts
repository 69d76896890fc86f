// An answer that goes on: the part that stands behind it, and what is sent for it.
import type { ChatBody } from "../types/models.ts";
import { Answer, type AnswerDeps } from "./answer.ts";
import type { Asking } from "./asking.ts";
import type { AnswerPart } from "./parts.ts";
import type { Pending } from "./pending.ts";

/** It answers the same question, and takes the place of the one that it goes on with. */
export function continuation(cut: AnswerPart, deps: AnswerDeps): AnswerPart {
  const { effort, state } = cut.answer;
  const answer = Answer.asked(deps, { model: state.trace.model, effort, continues: cut.answer });
  return { kind: "answer", key: answer.key, parent: cut.parent, answer, column: cut.column };
}

/** Of one answer, one continuation is on its way at a time: it is asked for under one key until the server names it. */
export const pendingName = ({ runId }: Answer): string => `continue-${runId}`;

export function pendingContinuation(body: ChatBody, cut: Answer, key: string): Pending {
  return {
    question: pendingName(cut),
    conversationId: body.conversation_id ?? "",
    parentId: cut.runId,
    messageId: undefined,
    text: "",
    pictures: [],
    continues: true,
    asks: [{ key, body }],
    asked: Date.now(),
    fate: "asked",
  };
}

/** `column`: where it stands beside others, as the answer that it goes on with. */
export function continueBody(conversationId: string, { answer: cut, column }: AnswerPart, asking: Asking): ChatBody {
  const { model } = cut.state.trace;
  const { column: _, ...fields } = asking.fields(model);
  return {
    ...fields,
    ...(column !== undefined && { column }),
    model,
    conversation_id: conversationId,
    parent_id: cut.runId,
    continue: true,
    on_disconnect: "continue",
  };
}
