// Two to four answers to one question, side by side: each with its line, its first-token time, its cost and its own stop.
import { useEffect, useMemo } from "react";
import type { Answer } from "../../hooks/answer.ts";
import type { Chat } from "../../hooks/chat.ts";
import { useFollow } from "../../hooks/follow.ts";
import type { AnswerPart } from "../../hooks/parts.ts";
import { useStore } from "../../hooks/store.ts";
import type { AnswerActions } from "../../run/actions.ts";
import type { PanelChoice } from "../../run/focus.ts";
import { ResponsePanel } from "../line/ResponsePanel.tsx";
import { Button } from "../ui/Button.tsx";

interface Props {
  chat: Chat;
  parts: readonly AnswerPart[];
  /** The key of the answer that the next question follows. */
  chosen: string;
  panels: PanelChoice;
  actionsOf: (part: AnswerPart) => AnswerActions;
}

export default function CompareColumns({ chat, parts, chosen, panels, actionsOf }: Props) {
  return (
    <ol
      className="grid grid-cols-[repeat(auto-fit,minmax(min(20rem,100%),1fr))] gap-4"
      aria-label="Answers side by side"
    >
      {parts.map((part) => (
        <Column
          key={part.key}
          part={part}
          isChosen={part.key === chosen}
          chat={chat}
          panels={panels}
          actionsOf={actionsOf}
        />
      ))}
    </ol>
  );
}

interface ColumnProps extends Omit<Props, "parts" | "chosen"> {
  part: AnswerPart;
  isChosen: boolean;
}

function Column({ part, isChosen, chat, panels, actionsOf }: ColumnProps) {
  const { answer } = part;
  useEffect(() => chat.show(answer), [chat, answer]);
  const { ref, content } = useFollow();
  const actions = useMemo(() => actionsOf(part), [actionsOf, part]);
  const model = answer.state.trace.model;
  return (
    <li
      data-part="column"
      data-chosen={isChosen}
      aria-label={model}
      className="flex min-w-0 flex-col rounded-md border border-edge bg-raised p-3 data-[chosen=true]:border-edge-strong"
    >
      <ColumnHead answer={answer} model={model} />
      {/* Each column scrolls by itself: its stop and the others' beginnings stay in sight. */}
      <section
        ref={ref}
        aria-label={`Answer of ${model}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
        tabIndex={0}
        className="max-h-[62dvh] min-w-0 flex-1 overflow-y-auto rounded-sm"
      >
        <div ref={content}>
          <ResponsePanel answer={answer} panels={panels} actions={actions} compact />
        </div>
      </section>
      <footer className="mt-3 flex min-h-10 items-center border-edge border-t pt-2 text-dim text-small">
        {isChosen ? (
          <span>The next question follows this one.</span>
        ) : (
          <Button look="outline" onClick={() => chat.choose(part.key)}>
            Go on with this
          </Button>
        )}
      </footer>
    </li>
  );
}

function ColumnHead({ answer, model }: { answer: Answer; model: string }) {
  const { trace, stopping } = useStore(answer);
  return (
    <header className="mb-2 flex min-h-7 items-center gap-2">
      <h2 className="min-w-0 flex-1 truncate font-semibold text-small" title={model}>
        {model}
      </h2>
      {!trace.end && (
        <Button look="outline" disabled={stopping} aria-label={`Stop ${model}`} onClick={() => void answer.stop()}>
          {stopping ? "Stopping" : "Stop"}
        </Button>
      )}
    </header>
  );
}
