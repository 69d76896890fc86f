// A read-only run: requested elsewhere, or saved.
import type { ReactNode } from "react";
import { useFollowScroll } from "../../hooks/followScroll.ts";
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import type { PanelChoice } from "../../logic/answer/openPanels.ts";
import type { Answer } from "../../state/answer/answer.ts";
import { useStore } from "../../state/store.ts";
import { ResponsePanel } from "../answer/ResponsePanel.tsx";
import { Button } from "../ui/Button.tsx";

interface Props {
  answer: Answer;
  /** The user's message. Undefined if only the run is known. */
  question: string | undefined;
  /** A sentence about where the run comes from. */
  words: ReactNode;
  panels: PanelChoice;
  actions: AnswerActions;
}

export function RunView({ answer, question, words, panels, actions }: Props) {
  const { trace, stopping } = useStore(answer);
  const { ref, content, away, jump } = useFollowScroll();
  return (
    <>
      <main ref={ref} className="min-h-0 flex-1 overflow-y-auto overscroll-contain" aria-label="Run" tabIndex={-1}>
        <div ref={content} className="mx-auto grid max-w-3xl gap-2 px-5 pt-6 pb-10 narrow:px-3">
          {question && (
            <p
              data-part="question"
              dir="auto"
              className="max-w-[85%] justify-self-end plain-lines rounded-md bg-sunken px-3.5 py-2 text-body"
            >
              {question}
            </p>
          )}
          <ResponsePanel answer={answer} panels={panels} actions={actions} />
        </div>
      </main>
      <footer className="relative px-5 pb-4 narrow:px-3">
        {away && !trace.end && (
          <Button look="outline" className="absolute -top-10 inset-x-0 mx-auto w-fit shadow-over" onClick={jump}>
            Scroll to bottom
          </Button>
        )}
        <div className="mx-auto flex max-w-3xl flex-wrap items-center gap-3 rounded-md border border-edge bg-raised px-4 py-3 text-dim text-small">
          <p className="flex-1">{words}</p>
          {!trace.end && answer.runId && (
            <Button look="outline" disabled={stopping} onClick={() => void answer.stop()}>
              {stopping ? "Stopping" : "Stop"}
            </Button>
          )}
        </div>
      </footer>
    </>
  );
}
