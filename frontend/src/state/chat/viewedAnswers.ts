// What the reader looks at: one variant of each question, and a file in the panel. The next message does not follow a
// variant until it is chosen.
import { Store } from "../store.ts";
import type { Chat } from "./chat.ts";
import { type AnswerPart, type Entry, slotKey, slotOf } from "./chatParts.ts";

interface ViewedState {
  /** The slot of the viewed answer by the key of its question. */
  slots: ReadonlyMap<string, string>;
  /** The file that the reader has opened last. A new object each time. */
  opened: { path: string } | undefined;
}

export class ViewedAnswers extends Store<ViewedState> {
  constructor() {
    super({ slots: new Map(), opened: undefined });
  }

  view(part: AnswerPart): void {
    if (part.parent !== null) this.set({ slots: new Map(this.state.slots).set(part.parent, slotKey(slotOf(part))) });
    this.flush();
  }

  /** Open a file of this answer in the panel. */
  open(part: AnswerPart, path: string): void {
    this.set({ opened: { path } });
    this.view(part);
  }
}

/** Kept while the answers are not rendered. */
const byChat = new WeakMap<Chat, ViewedAnswers>();

export function viewedAnswersOf(chat: Chat): ViewedAnswers {
  const known = byChat.get(chat) ?? new ViewedAnswers();
  byChat.set(chat, known);
  return known;
}

/** The viewed answer, or else the chosen one. */
export function viewedPart(
  { part, beside }: Extract<Entry, { kind: "answer" }>,
  slots: ViewedState["slots"],
): AnswerPart {
  const viewed = slots.get(part.parent ?? "");
  return beside.find((one) => slotKey(slotOf(one)) === viewed) ?? part;
}
