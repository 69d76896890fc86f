// Decides what became of an unconfirmed message after a reload.
import type { ChatPart, QuestionPart } from "./chatParts.ts";
import type { UnconfirmedMessage } from "./unconfirmedMessages.ts";

/** An unconfirmed message is sent again automatically only while the user may still be waiting. */
const ASKED_MS = 60_000;

/** The page has promised to send it, or the user may still be waiting. */
export const isFresh = ({ asked, promised }: UnconfirmedMessage): boolean =>
  promised === true || Math.abs(Date.now() - asked) < ASKED_MS;

/** The question on the server that corresponds to the message. Undefined if it never arrived. */
export function receivedMessage(
  parts: ReadonlyMap<string, ChatPart>,
  { messageId, parentId, text }: UnconfirmedMessage,
  parentIdOf: (question: QuestionPart) => string | null,
): QuestionPart | undefined {
  const questions = [...parts.values()].filter((part) => part.kind === "question");
  return questions.findLast((part) =>
    messageId === undefined ? part.text === text && parentIdOf(part) === parentId : part.id === messageId,
  );
}
