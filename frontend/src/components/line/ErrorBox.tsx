// What went wrong, whether anything was lost or billed, and what can be done; never mixed into the answer.
import { useEffect, useReducer } from "react";
import type { AnswerActions } from "../../run/actions.ts";
import { canContinue } from "../../run/continuing.ts";
import { limitWords, reachedLimit } from "../../run/limits.ts";
import { adviceOf, endingOf, type Fix, fixesOf, isFailure, lossOf } from "../../run/words.ts";
import type { RunEnd, RunTrace } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";
import { LimitButton } from "./LimitButton.tsx";
import { UnsavedText } from "./UnsavedText.tsx";

const CREDITS = "https://openrouter.ai/settings/credits";

interface Props {
  /** The whole answer. */
  trace: RunTrace;
  /** Its last run, which the end is of. */
  own: RunTrace;
  end: RunEnd;
  actions: AnswerActions;
  /** When it ended, by the page's clock; undefined where nobody here has seen it. */
  endedAt: number | undefined;
}

export function ErrorBox({ trace, own, end, actions, endedAt }: Props) {
  if (!isFailure(end)) return null;
  const limit = reachedLimit(own, end, actions.limits);
  return (
    <div
      data-part="error"
      data-code={end.code}
      className="grid gap-1 rounded-md border border-red-edge bg-red-wash px-3.5 py-3 text-small"
    >
      {/* The buttons stay outside: a screen reader must not read every second of a countdown. */}
      <div role="alert" className="grid gap-1">
        <p dir="auto" className="font-medium wrap-anywhere">
          {end.error || `${endingOf(end).label}.`}
        </p>
        <p className="text-dim">
          {lossOf(trace, end, own)} {limit && `${limitWords(limit)} `}
          {adviceOf(end)}
        </p>
      </div>
      {trace.unsaved?.text && <UnsavedText text={trace.unsaved.text} />}
      <div className="flex flex-wrap items-center gap-2 pt-1.5">
        {actions.onContinue && canContinue(trace, end) && (
          <Button look="outline" onClick={actions.onContinue}>
            Continue
          </Button>
        )}
        <LimitButton trace={own} end={end} actions={actions} look="outline" />
        {fixesOf(end).map((fix) => (
          <FixButton key={fix} fix={fix} actions={actions} waitUntil={waitUntil(end, endedAt)} />
        ))}
        {end.code && <code className="ms-auto font-mono text-dim text-tiny">{end.code}</code>}
      </div>
    </div>
  );
}

const waitUntil = ({ retry_after }: RunEnd, endedAt: number | undefined): number =>
  retry_after === undefined || endedAt === undefined ? 0 : endedAt + retry_after * 1000;

interface FixProps {
  fix: Fix;
  actions: AnswerActions;
  waitUntil: number;
}

/** What cannot be done now has no button. */
function FixButton({ fix, actions, waitUntil }: FixProps) {
  switch (fix) {
    case "retry":
      return actions.onRetry && <Retry onRetry={actions.onRetry} waitUntil={waitUntil} />;
    case "model":
    case "unknown":
      return (
        actions.onRetryWith && (
          <Button look="outline" onClick={() => actions.onRetryWith?.(fix === "unknown")}>
            {fix === "unknown" ? "Choose a model" : "Choose another model"}
          </Button>
        )
      );
    case "token":
      return (
        actions.onToken && (
          <Button look="outline" onClick={actions.onToken}>
            Enter token
          </Button>
        )
      );
    case "credits":
      return (
        <a
          href={CREDITS}
          target="_blank"
          rel="noopener noreferrer"
          className="inline-flex h-7 narrow:h-8 items-center rounded-md border border-edge bg-raised px-2 text-ink no-underline transition-colors hover:border-edge-strong"
        >
          Add credits
        </a>
      );
  }
}

const TICK_MS = 250;

/** Where the host asked for patience, the button waits as well. */
function Retry({ onRetry, waitUntil }: { onRetry: () => void; waitUntil: number }) {
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0);
  const seconds = Math.max(0, Math.ceil((waitUntil - performance.now()) / 1000));
  const isWaiting = seconds > 0;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [isWaiting]);
  return (
    <Button look="outline" onClick={onRetry} disabled={isWaiting} className="tabular-nums">
      {isWaiting ? `Retry in ${seconds} s` : "Retry"}
    </Button>
  );
}
