// The rows of the selected branch, in a virtual list.
import type { RefObject } from "react";
import { Virtualizer } from "virtua";
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import type { PanelChoice } from "../../logic/answer/openPanels.ts";
import { answerText } from "../../logic/answer/stops.ts";
import type { Chat } from "../../state/chat/chat.ts";
import type { AnswerPart, Entry } from "../../state/chat/chatParts.ts";
import type { Model } from "../../types/api.ts";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { AnswerRow } from "./AnswerRow.tsx";
import { QuestionRow } from "./QuestionRow.tsx";

interface Shared {
  chat: Chat;
  models: readonly Model[];
  panels: PanelChoice;
  actionsOf: (part: AnswerPart) => AnswerActions;
  onEdit: (key: string | undefined) => void;
  onAsked: () => void;
}

interface Props extends Shared {
  entries: readonly Entry[];
  /** The scroll container. */
  box: RefObject<HTMLElement | null>;
  /** The key of the message that is being edited. */
  editing: string | undefined;
}

export function Rows({ box, entries, editing, chat, models, panels, actionsOf, onEdit, onAsked }: Props) {
  // Two rows stay mounted out of sight: the one being edited, and the newest answer, which would be slow to render
  // again.
  const editedAt = entries.findIndex(({ part }) => part.key === editing);
  const mounted = [editedAt, entries.length - 1].filter((at) => at >= 0);
  return (
    <Virtualizer scrollRef={box} bufferSize={600} keepMounted={mounted}>
      {entries.map((entry) => (
        <Row
          // The key is the position, not the version: switching versions by keyboard must not lose the focus.
          key={`${entry.kind} after ${entry.part.parent}`}
          entry={entry}
          chat={chat}
          models={models}
          panels={panels}
          actionsOf={actionsOf}
          isEditing={editing === entry.part.key}
          onEdit={onEdit}
          onAsked={onAsked}
        />
      ))}
    </Virtualizer>
  );
}

interface RowProps extends Shared {
  entry: Entry;
  isEditing: boolean;
}

function Row({ entry, chat, models, panels, actionsOf, isEditing, onEdit, onAsked }: RowProps) {
  const wide = entry.kind === "answer" && entry.beside.length > 0;
  return (
    // The list ignores the pointer while it scrolls, and it scrolls all the time while it follows an answer. So rows
    // enable it.
    <div
      className={`pointer-events-auto mx-auto px-5 narrow:px-3 ${wide ? "max-w-[110rem]" : "max-w-3xl"} ${entry.kind === "question" ? "pt-6" : "pt-2"}`}
    >
      <ErrorBoundary
        fallback={
          <p dir="auto" className="plain-lines">
            {wordsOf(entry)}
          </p>
        }
      >
        {entry.kind === "question" ? (
          <QuestionRow entry={entry} chat={chat} isEditing={isEditing} onEdit={onEdit} onAsked={onAsked} />
        ) : (
          <AnswerRow entry={entry} chat={chat} models={models} panels={panels} actionsOf={actionsOf} />
        )}
      </ErrorBoundary>
    </div>
  );
}

/** The plain text of a row that fails to render. */
const wordsOf = ({ part }: Entry): string => (part.kind === "question" ? part.text : answerText(part.answer.whole));
