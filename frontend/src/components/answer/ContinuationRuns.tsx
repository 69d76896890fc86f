// The runs of a continued answer: what each of them took, and a button that opens its run details.
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { costText, count, duration, endingOf, plural } from "../../logic/wording/statusAndAmounts.ts";
import type { Answer } from "../../state/answer/answer.ts";
import { useStore } from "../../state/store.ts";
import type { RunTrace } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";

interface Props {
  chain: readonly Answer[];
  onInspect: (answer: Answer) => void;
}

export function ContinuationRuns({ chain, onInspect }: Props) {
  const [open, setOpen] = useState(false);
  const times = chain.length - 1;
  return (
    <li data-part="runs" className="ps-7 text-dim">
      <Button className="-ms-2" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight aria-hidden="true" className={open ? "rotate-90" : ""} />
        Continued {times === 1 ? "once" : plural(times, "time")}
      </Button>
      {open && (
        <ol className="grid gap-0.5 pb-1">
          {chain.map((answer, at) => (
            <RunRow key={answer.key} answer={answer} number={at + 1} onInspect={onInspect} />
          ))}
        </ol>
      )}
    </li>
  );
}

interface RowProps {
  answer: Answer;
  number: number;
  onInspect: (answer: Answer) => void;
}

function RunRow({ answer, number, onInspect }: RowProps) {
  const { trace } = useStore(answer);
  return (
    <li data-part="run" className="flex items-center gap-x-2 tabular-nums">
      <span className="min-w-0 wrap-anywhere">{[`Part ${number}`, ...factsOf(trace)].join(" · ")}</span>
      {trace.runId && (
        <Button aria-label={`Run details of part ${number}`} onClick={() => onInspect(answer)}>
          Run details
        </Button>
      )}
    </li>
  );
}

function factsOf({ end, totalMs, model }: RunTrace): readonly string[] {
  if (!end) return ["running"];
  return [
    // All runs use the same model unless a fallback answered.
    end.model === undefined || end.model === model ? "" : end.model,
    totalMs === undefined ? "" : duration(totalMs),
    end.usage ? `${count(end.usage.input + end.usage.output)} tokens` : "",
    end.cost === undefined
      ? ""
      : costText(end.cost, { simulated: end.simulated === true, estimated: end.cost_estimated === true }),
    endingOf(end).label,
  ].filter(Boolean);
}
