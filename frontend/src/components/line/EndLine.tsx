// How the run ended, in one line of small print.
import { useState } from "react";
import { answerText } from "../run/view.ts";
import { cost, count, duration, endingOf, isFailure, loopWords } from "../run/words.ts";
import type { RunEnd, RunTrace } from "../types/models.ts";
import { Lamp } from "./Lamp.tsx";

interface Props {
  trace: RunTrace;
  end: RunEnd;
  onRetry?: (() => void) | undefined;
}

export function EndLine({ trace, end, onRetry }: Props) {
  const ending = endingOf(end);
  const text = answerText(trace);
  return (
    <li className="stop end">
      <Lamp lamp={ending.lamp} />
      <p className="facts">
        {ending.label && <strong>{ending.label}</strong>}
        {factsOf(trace, end).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
        {end.simulated && (
          <span className="simulated">
            <Lamp lamp="blue" /> simulated
          </span>
        )}
      </p>
      <p className="actions">
        {text && <Copy text={text} />}
        {onRetry && !isFailure(end) && (
          <button type="button" className="quiet" onClick={onRetry}>
            Retry
          </button>
        )}
      </p>
    </li>
  );
}

function factsOf(trace: RunTrace, end: RunEnd): string[] {
  const { usage } = end;
  const served = end.model ?? (end.local ? undefined : trace.model);
  const loop = end.loop ?? trace.loop;
  return [
    served && (end.provider ? `${served} via ${end.provider}` : served),
    end.requested_model && served && end.requested_model !== served && `asked for ${end.requested_model}`,
    trace.totalMs !== undefined && duration(trace.totalMs),
    usage && `${count(usage.input + usage.output)} tokens`,
    end.cost !== undefined && `${end.cost_estimated ? "about " : ""}${cost(end.cost)}`,
    loopWords(loop, end.flag),
  ].filter((fact): fact is string => typeof fact === "string" && fact !== "");
}

function Copy({ text }: { text: string }) {
  const [said, setSaid] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      setSaid("Not allowed");
    }
    setTimeout(() => setSaid("Copy"), 1500);
  };
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {said}
    </button>
  );
}
