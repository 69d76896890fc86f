// One answer of a comparison, and a button that continues the chat from it.
import { useCallback, useEffect, useMemo } from "react";
import { labelText } from "../../logic/models/modelLabels.ts";
import { viewedAnswersOf } from "../../state/chat/viewedAnswers.ts";
import { useStored } from "../../state/store.ts";
import { ResponsePanel } from "../answer/ResponsePanel.tsx";
import { Button } from "../ui/Button.tsx";
import { OpenFile } from "../ui/OpenFile.tsx";
import { type Column, type ComparedProps, isWithoutAnswer } from "./columns.ts";

export function ColumnBody({ part, label, chat, chosen, panels, actionsOf }: Column & ComparedProps) {
  const { answer, key } = part;
  useEffect(() => chat.show(answer), [chat, answer]);
  const hasNone = useStored(answer, () => isWithoutAnswer(answer));
  const viewed = viewedAnswersOf(chat);
  const openFile = useCallback((path: string) => viewed.open(part, path), [viewed, part]);
  const choose = () => {
    viewed.view(part);
    chat.choose(key);
  };
  const actions = useMemo(() => actionsOf(part), [actionsOf, part]);
  return (
    <>
      <div className="min-w-0 flex-1">
        <OpenFile value={openFile}>
          <ResponsePanel answer={answer} panels={panels} actions={actions} compact />
        </OpenFile>
      </div>
      <p className="mt-3 flex min-h-10 items-center border-edge border-t pt-2 text-dim text-small">
        {hasNone ? (
          "There is no answer to continue from."
        ) : key === chosen ? (
          "Your next message continues from this answer."
        ) : (
          <Button look="outline" aria-label={`Continue with this answer: ${labelText(label)}`} onClick={choose}>
            Continue with this answer
          </Button>
        )}
      </p>
    </>
  );
}
