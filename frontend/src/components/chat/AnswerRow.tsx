// One answer in the chat, or several side by side. An old answer loads when it comes into view.
import { Columns2 } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useMemo } from "react";
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import type { PanelChoice } from "../../logic/answer/openPanels.ts";
import { runsOf } from "../../state/answer/joinedAnswer.ts";
import type { Chat } from "../../state/chat/chat.ts";
import type { AnswerPart, Entry } from "../../state/chat/chatParts.ts";
import { viewedAnswersOf } from "../../state/chat/viewedAnswers.ts";
import type { Model } from "../../types/api.ts";
import { ResponsePanel } from "../answer/ResponsePanel.tsx";
import { loadColumns } from "../compare/lazyColumns.ts";
import { Button } from "../ui/Button.tsx";
import { OpenFile } from "../ui/OpenFile.tsx";
import { BranchSwitch } from "./BranchSwitch.tsx";

const CompareColumns = lazy(loadColumns);

export interface RowProps {
  chat: Chat;
  panels: PanelChoice;
  actionsOf: (part: AnswerPart) => AnswerActions;
}

interface Props extends RowProps {
  models: readonly Model[];
  entry: Extract<Entry, { kind: "answer" }>;
}

export function AnswerRow({ entry, chat, models, panels, actionsOf }: Props) {
  const { part, alternatives, beside } = entry;
  const at = alternatives.indexOf(part);
  const choose = (index: number) => {
    const other = alternatives[index];
    if (other) chat.choose(other.key);
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1 narrow:gap-2.5">
      {alternatives.length > 1 && (
        <div className="flex items-center gap-2 text-dim text-small">
          {beside.length === 0 && (
            <BranchSwitch
              label="answer"
              index={at}
              count={alternatives.length}
              onPrevious={() => choose(at - 1)}
              onNext={() => choose(at + 1)}
            />
          )}
          {part.parent !== null && (
            <SideBySideButton
              chat={chat}
              questionKey={part.parent}
              on={beside.length > 0}
              count={alternatives.length}
            />
          )}
        </div>
      )}
      {beside.length > 0 ? (
        <Suspense>
          <CompareColumns
            chat={chat}
            models={models}
            parts={beside}
            chosen={part.key}
            panels={panels}
            actionsOf={actionsOf}
          />
        </Suspense>
      ) : (
        // The key is the first run's: a continued answer keeps its open panels and its scroll position.
        <SingleAnswer key={runsOf(part.answer)[0]?.key} part={part} chat={chat} panels={panels} actionsOf={actionsOf} />
      )}
    </div>
  );
}

function SingleAnswer({ part, chat, panels, actionsOf }: RowProps & { part: AnswerPart }) {
  const { answer } = part;
  useEffect(() => chat.show(answer), [chat, answer]);
  const actions = useMemo(() => actionsOf(part), [actionsOf, part]);
  const openFile = useCallback((path: string) => viewedAnswersOf(chat).open(part, path), [chat, part]);
  return (
    <OpenFile value={openFile}>
      <ResponsePanel answer={answer} panels={panels} actions={actions} />
    </OpenFile>
  );
}

function SideBySideButton({
  chat,
  questionKey,
  on,
  count,
}: {
  chat: Chat;
  questionKey: string;
  on: boolean;
  count: number;
}) {
  return (
    <Button onClick={() => chat.standBeside(questionKey, !on)}>
      <Columns2 aria-hidden="true" />
      {on ? "Show one answer" : `Show all ${count} side by side`}
    </Button>
  );
}
