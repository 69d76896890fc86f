// What went wrong, whether anything was lost or billed, and the one best next step; never mixed into the answer.
import { answerText } from "../run/view.ts";
import { adviceOf, cost, endingOf, isFailure } from "../run/words.ts";
import type { RunEnd, RunTrace } from "../types/models.ts";

interface Props {
  trace: RunTrace;
  end: RunEnd;
  onRetry?: (() => void) | undefined;
}

export function ErrorBox({ trace, end, onRetry }: Props) {
  if (!isFailure(end)) return null;
  return (
    <div className="error-box" role="alert">
      <p>{end.error ?? `${endingOf(end).label}.`}</p>
      <p className="dim">
        {[answerText(trace) && "What came is kept.", billed(end), adviceOf(end)].filter(Boolean).join(" ")}
      </p>
      <p className="error-foot">
        {onRetry && (
          <button type="button" onClick={onRetry}>
            Retry
          </button>
        )}
        {end.code && <code>{end.code}</code>}
      </p>
    </div>
  );
}

const billed = (end: RunEnd): string => {
  if (end.simulated || end.cost === undefined) return "";
  return end.cost > 0 ? `It cost ${cost(end.cost)}.` : "Nothing was billed.";
};
