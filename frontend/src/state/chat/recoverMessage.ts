// After a reload: what became of a question that was on its way.
import type { ChatPart, QuestionPart } from "./chatParts.ts";
import type { Pending } from "./unconfirmedMessages.ts";

/** An unanswered question is sent again automatically only while its reader may still be waiting. */
const ASKED_MS = 60_000;

/** The reader was promised that it is sent, or waits for it still. */
export const isFresh = ({ asked, promised }: Pending): boolean =>
  promised === true || Math.abs(Date.now() - asked) < ASKED_MS;

/** The question as the server knows it; undefined where it never arrived. */
export function cameThrough(
  parts: ReadonlyMap<string, ChatPart>,
  { messageId, parentId, text }: Pending,
  parentIdOf: (question: QuestionPart) => string | null,
): QuestionPart | undefined {
  const questions = [...parts.values()].filter((part) => part.kind === "question");
  return questions.findLast((part) =>
    messageId === undefined ? part.text === text && parentIdOf(part) === parentId : part.id === messageId,
  );
}
