// The actions of an answer in the chat.
import { type RefObject, useCallback } from "react";
import type { AnswerActions, RetryReason } from "../../logic/answer/answerActions.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { type AnswerPart, type Slot, slotOf } from "../../state/chat/chatParts.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import type { ParameterName } from "../../types/api.ts";
import type { ComposerHandle } from "../composer/Composer.tsx";

interface Props {
  box: Signalbox;
  chat: Chat;
  composer: RefObject<ComposerHandle | null>;
  /** Edit this message, or none. */
  edit: (key: string | undefined) => void;
  /** Send this message in a new chat. */
  move: (question: string) => void;
  onInspect: (answer: Answer, title: string, runId?: string) => void;
  onRetryWith: (questionKey: string, answer: Answer, reason?: RetryReason) => void;
  onSettings: (focused: ParameterName) => void;
  onNotice: (words: string) => void;
}

/** Returns the same function until an argument changes, so that unchanged answers are not rendered again. */
export function useAnswerActions(props: Props): (part: AnswerPart) => AnswerActions {
  const { box, chat, composer, edit, move, onInspect, onRetryWith, onSettings, onNotice } = props;
  const limits = useStore(box.settings).ask.parameters;
  return useCallback(
    (part: AnswerPart): AnswerActions => {
      const question = part.parent;
      const goOn = (key: string) => {
        void chat.continueAnswer(key);
        composer.current?.focus();
      };
      const retry = (key: string, slot: Slot | undefined) => {
        edit(undefined);
        void chat.again(key, slot?.model, slot?.column);
        composer.current?.focus();
      };
      const again = (key: string) => {
        const cut = emptyContinuation(chat, part);
        return cut ? goOn(cut.key) : retry(key, besideSlot(chat, part));
      };
      return {
        onRetry: question === null ? undefined : () => again(question),
        onContinue: () => goOn((emptyContinuation(chat, part) ?? part).key),
        onRetryWith: question === null ? undefined : (reason) => onRetryWith(question, part.answer, reason),
        onStop: () => {
          void part.answer.stop();
          composer.current?.focus();
        },
        limits,
        onLimit: onSettings,
        onInspect: (runId) => onInspect(part.answer, questionOf(chat, part), runId),
        onSave: () =>
          void keep(box, part.answer).then(
            () => onNotice("Saved. Find it under Saved in the sidebar."),
            (error: unknown) =>
              onNotice(`The answer could not be saved. ${error instanceof Error ? error.message : error}`),
          ),
        onNew: question === null ? undefined : () => move(question),
        onToken: () => box.session.askForToken(),
      };
    },
    [box, chat, composer, edit, move, limits, onInspect, onRetryWith, onSettings, onNotice],
  );
}

const questionOf = (chat: Chat, part: AnswerPart): string => {
  const question = part.parent === null ? undefined : chat.state.parts.get(part.parent);
  return question?.kind === "question" ? question.text : "";
};

/** Retrying a continuation without output continues the same answer again. Returns that answer. */
function emptyContinuation(chat: Chat, { answer }: AnswerPart): AnswerPart | undefined {
  const isEmpty = answer.state.trace.items.every(({ kind }) => kind === "warning");
  if (!answer.continues || !isEmpty) return undefined;
  const parts = [...chat.state.parts.values()];
  return parts.find((part) => part.kind === "answer" && part.answer === answer.continues) as AnswerPart | undefined;
}

/** A compared column is regenerated in its place with its own model, a single answer with the selected one. */
function besideSlot(chat: Chat, part: AnswerPart): Slot | undefined {
  const isBeside = chat.state.entries.some((entry) => entry.kind === "answer" && entry.beside.includes(part));
  return isBeside ? slotOf(part) : undefined;
}

const keep = (box: Signalbox, answer: Answer): Promise<unknown> =>
  box.saves.save(answer.runId, undefined, { ask: { ...box.settings.state.ask } });
