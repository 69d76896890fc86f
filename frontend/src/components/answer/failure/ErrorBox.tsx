// The error box: what happened, what was lost and charged, and what the user can do.
import { useEffect, useReducer } from "react";
import type { AnswerActions } from "../../../logic/answer/answerActions.ts";
import type { NextSteps } from "../../../logic/answer/nextSteps.ts";
import { limitText, type ReachedLimit } from "../../../logic/answer/reachedLimit.ts";
import { type Fix, lossOf } from "../../../logic/wording/advice.ts";
import { failureText } from "../../../logic/wording/failureText.ts";
import { isCut } from "../../../logic/wording/statusAndAmounts.ts";
import type { RunEnd, RunTrace } from "../../../types/models.ts";
import { Button } from "../../ui/Button.tsx";
import { LimitButton } from "./LimitButton.tsx";
import { ProviderQuote } from "./ProviderQuote.tsx";
import { UnsavedText } from "./UnsavedText.tsx";

const CREDITS = "https://openrouter.ai/settings/credits";

interface Props {
  /** The trace of the whole answer. */
  trace: RunTrace;
  /** The trace of the answer's last run, which `end` belongs to. */
  own: RunTrace;
  end: RunEnd;
  actions: AnswerActions;
  steps: NextSteps;
  /** The limit of the request that the run reached. */
  limit: ReachedLimit | undefined;
  /** When the run ended, by the page's clock. Undefined if the page did not see it end. */
  endedAt: number | undefined;
}

export function ErrorBox({ trace, own, end, actions, steps, limit, endedAt }: Props) {
  const [best] = steps.fixes;
  const { title, detail, quote } = failureText(end, trace.model);
  return (
    <div
      data-part="error"
      data-code={end.code}
      className={`grid gap-1 rounded-md border px-3.5 py-3 text-small ${isCut(end) ? "border-edge bg-amber-wash" : "border-red-edge bg-red-wash"}`}
    >
      {/* Outside the alert: the countdown, which a screen reader would read every second, and the provider's quote. */}
      <div role="alert" className="grid gap-1">
        <p dir="auto" className="font-medium wrap-anywhere">
          {title}
        </p>
        {detail && (
          <p dir="auto" className="wrap-anywhere">
            {detail}
          </p>
        )}
        <p className="text-dim">
          {lossOf(trace, end, own)} {limit && `${limitText(limit, actions.limits)} `}
          {steps.sentence}
        </p>
      </div>
      {quote && <ProviderQuote {...quote} />}
      {trace.unsaved?.text && <UnsavedText text={trace.unsaved.text} />}
      <div className="flex flex-wrap items-center gap-2 pt-1.5">
        {steps.fixes.map((fix) => (
          <FixButton
            key={fix}
            fix={fix}
            look={fix === best ? "primary" : "outline"}
            actions={actions}
            waitUntil={waitUntil(end, endedAt)}
          />
        ))}
        <LimitButton limit={limit} actions={actions} look="outline" />
        {end.code && <code className="ms-auto font-mono text-dim text-tiny">{end.code}</code>}
      </div>
    </div>
  );
}

const waitUntil = ({ retry_after }: RunEnd, endedAt: number | undefined): number =>
  retry_after === undefined || endedAt === undefined ? 0 : endedAt + retry_after * 1000;

interface FixProps {
  fix: Fix;
  look: "primary" | "outline";
  actions: AnswerActions;
  waitUntil: number;
}

/** A step without an action renders no button. */
function FixButton({ fix, look, actions, waitUntil }: FixProps) {
  switch (fix) {
    case "continue":
      return (
        actions.onContinue && (
          <DelayedButton look={look} words="Continue" onClick={actions.onContinue} {...{ waitUntil }} />
        )
      );
    case "retry":
      return (
        actions.onRetry && <DelayedButton look={look} words="Retry" onClick={actions.onRetry} {...{ waitUntil }} />
      );
    case "model":
    case "unknown":
      return (
        actions.onRetryWith && (
          <Button look={look} onClick={() => actions.onRetryWith?.(fix === "unknown" ? fix : undefined)}>
            {fix === "unknown" ? "Choose a model" : "Choose another model"}
          </Button>
        )
      );
    case "new":
      return (
        actions.onNew && (
          <Button look={look} onClick={actions.onNew}>
            New chat
          </Button>
        )
      );
    case "token":
      return (
        actions.onToken && (
          <Button look={look} onClick={actions.onToken}>
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

interface WaitingProps {
  look: "primary" | "outline";
  words: string;
  onClick: () => void;
  waitUntil: number;
}

/** If the provider asked for a delay, the button is disabled until it has passed. */
function DelayedButton({ look, words, onClick, waitUntil }: WaitingProps) {
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0);
  const seconds = Math.max(0, Math.ceil((waitUntil - performance.now()) / 1000));
  const isWaiting = seconds > 0;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [isWaiting]);
  return (
    <Button look={look} onClick={onClick} disabled={isWaiting} className="tabular-nums">
      {isWaiting ? `${words} in ${seconds} s` : words}
    </Button>
  );
}
