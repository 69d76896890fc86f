// Continues answers: adds the continuation to the tree, sends its request, and stores it until it is confirmed.
import { newIdempotencyKey } from "@signalbox/client/requests";
import type { ChatBody } from "../../types/models.ts";
import { Answer } from "../answer/answer.ts";
import type { AnswerDeps } from "../answer/answerState.ts";
import type { Branches } from "./branches.ts";
import type { AnswerPart } from "./chatParts.ts";
import type { ChatStore } from "./chatState.ts";
import type { QueuedMessages } from "./queuedMessages.ts";
import type { RequestSetup } from "./requestBody.ts";
import type { UnconfirmedMessage, UnconfirmedMessages } from "./unconfirmedMessages.ts";

/** The parts of the chat that continuations use. */
export interface ContinuationChat {
  id: string;
  deps: AnswerDeps;
  store: ChatStore;
  branches: Branches;
  pending: UnconfirmedMessages;
  waiting: QueuedMessages;
}

export class Continuations {
  readonly #chat: ContinuationChat;

  constructor(chat: ContinuationChat) {
    this.#chat = chat;
  }

  /** If the outcome of an earlier request is unknown, the same request is sent again. */
  async continueAnswer(key: string, asked: () => RequestSetup | Promise<RequestSetup>): Promise<void> {
    const { id, store, pending } = this.#chat;
    const cut = store.read().parts.get(key);
    if (cut?.kind !== "answer" || !cut.answer.isOver || !cut.answer.runId) return;
    const asking = await asked();
    const name = continuationKey(cut.answer);
    const stored = pending.all().find(({ question, fate }) => question === name && fate === "asked")?.asks[0];
    const unconfirmed = stored?.stopped ? undefined : stored;
    await this.ask(cut, unconfirmed?.body ?? continueBody(id, cut, asking), unconfirmed?.key ?? newIdempotencyKey());
  }

  async ask(cut: AnswerPart, body: ChatBody, key: string): Promise<void> {
    const { deps, store, branches, pending, waiting } = this.#chat;
    const part = continuation(cut, deps);
    const name = continuationKey(cut.answer);
    waiting.moveOn(cut.key, part.key);
    branches.addContinuation(cut, part);
    store.flush();
    pending.store(unconfirmedContinuation(body, cut.answer, key));
    await part.answer.ask(body, key, () => pending.drop(name));
    if (part.answer.isUnauthorized) return pending.unauthorized(name, key);
    // Rejected, or stopped before it was sent: nothing is left to recover after a reload.
    const isSettled = !part.answer.isUnanswered && part.answer.state.trace.end?.status !== "cancelled";
    if (isSettled) pending.drop(name);
  }
}

/** The continuation answers the same question and takes the place of the answer that it continues. */
function continuation(cut: AnswerPart, deps: AnswerDeps): AnswerPart {
  const { effort, state } = cut.answer;
  const answer = Answer.asked(deps, { model: state.trace.model, effort, continues: cut.answer });
  return { kind: "answer", key: answer.key, parent: cut.parent, answer, column: cut.column };
}

/** The storage key of an answer's continuation. Only one request per answer can be open. */
export const continuationKey = ({ runId }: Answer): string => `continue-${runId}`;

function unconfirmedContinuation(body: ChatBody, cut: Answer, key: string): UnconfirmedMessage {
  return {
    question: continuationKey(cut),
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

/** `column` is the column of the continued answer. */
function continueBody(conversationId: string, { answer: cut, column }: AnswerPart, asking: RequestSetup): ChatBody {
  const { model } = cut.state.trace;
  const { column: _, ...fields } = asking.fields(model, 0);
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
