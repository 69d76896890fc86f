// Screens for a run by its address and for a saved answer, both read-only.
import { PanelLeft } from "lucide-react";
import { type ReactNode, useEffect, useMemo } from "react";
import { useContinued, useRun, useSave } from "../../hooks/openedRun.ts";
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import { hashOf } from "../../state/address.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import { Announcer } from "../answer/Announcer.tsx";
import { Button } from "../ui/Button.tsx";
import { RunView } from "./RunView.tsx";

interface Props {
  box: Signalbox;
  id: string;
  sidebarOpen: boolean;
  onSidebar: () => void;
  onInspect: (answer: Answer, title: string, runId?: string) => void;
}

export function RunScreen({ box, id, onInspect, ...rest }: Props) {
  const answer = useRun(box.session, id);
  const { trace } = useStore(answer);
  const continued = useContinued(box.session, id);
  return (
    <>
      <Head title="Answer" {...rest} />
      <ReadOnlyRun box={box} answer={answer} question={undefined} onInspect={onInspect}>
        {trace.end
          ? "This answer was requested elsewhere, for example through the API."
          : "This answer is being written for a request made elsewhere, for example through the API."}
        {continued && <ContinuedLink runId={continued} />}
      </ReadOnlyRun>
    </>
  );
}

const ContinuedLink = ({ runId }: { runId: string }) => (
  <span className="block">
    It continues{" "}
    <a href={hashOf({ kind: "run", id: runId })} className="underline">
      an earlier run
    </a>
    .
  </span>
);

export function SavedAnswerScreen({ box, id, onInspect, ...rest }: Props) {
  const { answer, save, trouble } = useSave(box.session, id);
  return (
    <>
      <Head title={save?.title ?? "Saved answer"} {...rest} />
      {trouble && (
        <p
          role="alert"
          className="mx-auto mt-6 max-w-3xl rounded-md border border-red-edge bg-red-wash px-4 py-3 text-red-ink text-small"
        >
          {trouble}
        </p>
      )}
      {answer && save && (
        <ReadOnlyRun box={box} answer={answer} question={save.question.text} onInspect={onInspect}>
          Saved on {new Date(save.created).toLocaleString()}.
        </ReadOnlyRun>
      )}
    </>
  );
}

interface ShownProps {
  box: Signalbox;
  answer: Answer;
  question: string | undefined;
  onInspect: (answer: Answer, title: string, runId?: string) => void;
  children: ReactNode;
}

function ReadOnlyRun({ box, answer, question, onInspect, children }: ShownProps) {
  const { reasoning } = useStore(box.settings);
  const actions = useMemo(
    (): AnswerActions => ({
      onRetry: undefined,
      onRetryWith: undefined,
      onStop: () => void answer.stop(),
      onContinue: undefined,
      limits: {},
      onLimit: undefined,
      onInspect: (runId) => onInspect(answer, question ?? "", runId),
      onSave: undefined,
      onNew: undefined,
      onToken: () => box.session.askForToken(),
    }),
    [box, answer, question, onInspect],
  );
  return (
    <>
      <RunView answer={answer} question={question} words={children} panels={reasoning} actions={actions} />
      <Announcer answer={answer} />
    </>
  );
}

function Head({ title, sidebarOpen, onSidebar }: { title: string; sidebarOpen: boolean; onSidebar: () => void }) {
  useEffect(() => {
    document.title = `${title} · Signalbox`;
  }, [title]);
  return (
    <header className="flex min-h-12 items-center gap-2 border-edge border-b px-3 py-2 text-small">
      <Button size="icon" aria-label="Conversations" aria-expanded={sidebarOpen} onClick={onSidebar}>
        <PanelLeft aria-hidden="true" />
      </Button>
      <h1 dir="auto" className="min-w-0 truncate font-semibold">
        {title}
      </h1>
    </header>
  );
}
