// What a conversation does when one of its answers gets its id, changes its connection, or ends.

import type { Answer } from "../answer/answer.ts";
import type { Branches } from "./branches.ts";
import { continuationKey } from "./continuation.ts";
import type { RejectedColumns } from "./rejectedColumns.ts";
import type { UnconfirmedMessages } from "./unconfirmedMessages.ts";

export interface ReactionDeps {
  /** The branches have changed: show them, and update the list of conversations. */
  onProgress: () => void;
  /** Check whether the conversation was deleted. */
  checkGone: () => void;
  /** Load what the server knows of the conversation. */
  refresh: () => void;
  /** Send the next queued message. */
  sendNext: () => void;
}

/** When the server usually has the final cost of a stopped run, in ms after its end. */
const SETTLED_MS = [8000, 45_000] as const;

/** When a conversation whose run was stopped elsewhere may be deleted, in ms after the end of the run. */
const DELETED_MS = [0, 1000, 8000] as const;

const GONE = new Set(["UNKNOWN_CONVERSATION", "UNKNOWN_MESSAGE"]);

export class AnswerReactions {
  readonly #branches: Branches;
  readonly #unconfirmed: UnconfirmedMessages;
  readonly #rejected: RejectedColumns;
  readonly #deps: ReactionDeps;
  /** Answers that ran while the page followed them, and were not stopped here. */
  readonly #running = new WeakSet<Answer>();

  constructor(branches: Branches, unconfirmed: UnconfirmedMessages, rejected: RejectedColumns, deps: ReactionDeps) {
    this.#branches = branches;
    this.#unconfirmed = unconfirmed;
    this.#rejected = rejected;
    this.#deps = deps;
  }

  changed(answer: Answer): void {
    const part = this.#branches.answers().find((other) => other.answer === answer);
    const pending = answer.continues ? continuationKey(answer.continues) : part?.parent;
    if (pending && answer.state.connection === "waiting") this.#markPromised(pending);
    const isStopped = answer.state.stopping || answer.state.trace.end?.status === "cancelled";
    if (pending && !answer.runId && isStopped) {
      const { column } = part ?? {};
      this.#unconfirmed.stop(pending, { model: answer.state.trace.model, column });
    }
    if (part?.parent) this.#rejected.store(part.parent, this.#branches);
    this.#branches.derive();
    this.#deps.onProgress();
    if (answer.isOver) this.#ended(answer, isStopped);
    else if (answer.state.stopping) this.#running.delete(answer);
    else if (answer.isLive) this.#running.add(answer);
  }

  #ended(answer: Answer, isStopped: boolean): void {
    const { end } = answer.state.trace;
    if (GONE.has(end?.code ?? "")) this.#deps.checkGone();
    // The server stops the runs of a conversation, then deletes it.
    if (end?.status === "cancelled" && this.#running.delete(answer))
      for (const ms of DELETED_MS) setTimeout(this.#deps.checkGone, ms);
    // Another tab is continuing the answer: show its continuation.
    if (answer.continues && end?.code === "RUN_NOT_OVER") this.#deps.refresh();
    // It was stopped before it had an id. The conversation shows what became of it.
    if (isStopped && !answer.runId && !answer.isLive) this.#deps.refresh();
    if (end?.cost_estimated) for (const ms of SETTLED_MS) setTimeout(this.#deps.refresh, ms);
    this.#deps.sendNext();
  }

  /** The message will be sent to all of its models when the server can be reached. */
  #markPromised(question: string): void {
    this.#unconfirmed.promise(question);
    for (const { parent, answer } of this.#branches.answers()) if (parent === question) answer.wait();
  }
}
