// One answer of a comparison, and a button that continues the chat from it.
import { useEffect, useMemo } from "react";
import { labelText } from "../../logic/models/modelLabels.ts";
import { useStored } from "../../state/store.ts";
import { ResponsePanel } from "../answer/ResponsePanel.tsx";
import { Button } from "../ui/Button.tsx";
import { type Column, type ComparedProps, isWithoutAnswer } from "./columns.ts";

export function ColumnBody({ part, label, chat, chosen, panels, actionsOf }: Column & ComparedProps) {
  const { answer, key } = part;
  useEffect(() => chat.show(answer), [chat, answer]);
  const hasNone = useStored(answer, () => isWithoutAnswer(answer));
  const actions = useMemo(() => actionsOf(part), [actionsOf, part]);
  return (
    <>
      <div className="min-w-0 flex-1">
        <ResponsePanel answer={answer} panels={panels} actions={actions} compact />
      </div>
      <p className="mt-3 flex min-h-10 items-center border-edge border-t pt-2 text-dim text-small">
        {hasNone ? (
          "There is no answer to continue from."
        ) : key === chosen ? (
          "Your next message continues from this answer."
        ) : (
          <Button
            look="outline"
            aria-label={`Continue with this answer: ${labelText(label)}`}
            onClick={() => chat.choose(key)}
          >
            Continue with this answer
          </Button>
        )}
      </p>
    </>
  );
}
