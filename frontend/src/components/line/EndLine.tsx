// The foot of the line: how the run ended and what it took, in one line of small print, and what can be done with it.
import { Ellipsis } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import type { AnswerActions } from "../../run/actions.ts";
import { canContinue } from "../../run/continuing.ts";
import { hasAnswer } from "../../run/copy.ts";
import { costWords, count, duration, endingOf, fixesOf, isFailure, loopWords } from "../../run/words.ts";
import type { RunEnd, RunTrace } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";
import { Lamp } from "../ui/Lamp.tsx";
import { Menu, MenuItem } from "../ui/Menu.tsx";
import { CopyActions } from "./CopyActions.tsx";
import { LimitButton } from "./LimitButton.tsx";

interface Fact {
  key: string;
  words: ReactNode;
  /** Why, or what that means. */
  title?: string | undefined;
}

interface Props {
  trace: RunTrace;
  end: RunEnd;
  actions: AnswerActions;
  compact: boolean;
}

const ROW = "relative flex min-h-7 flex-wrap items-start gap-x-4 ps-7 text-dim";

export function EndLine({ trace, end, actions, compact }: Props) {
  const ending = endingOf(end);
  const facts: Fact[] = [
    ...(ending.label
      ? [{ key: "ending", words: <strong className="font-semibold text-ink">{ending.label}</strong> }]
      : []),
    ...factsOf(trace, end),
  ];
  return (
    <li className={ROW} data-part="end" data-status={end.status}>
      <span className="absolute top-2 start-0 flex">
        <Lamp lamp={ending.lamp} spoken={ending.label === ""} />
      </span>
      <Facts facts={facts} compact={compact} />
      <div className="-ms-2 flex flex-wrap items-center">
        {hasAnswer(trace) && <CopyActions trace={trace} />}
        {actions.onContinue && !isFailure(end) && canContinue(trace, end) && (
          <Button onClick={actions.onContinue}>Continue</Button>
        )}
        {!isFailure(end) && <LimitButton trace={trace} end={end} actions={actions} />}
        {actions.onRetry && !(isFailure(end) && fixesOf(end).includes("retry")) && (
          <Button onClick={actions.onRetry}>Retry</Button>
        )}
        <Button onClick={() => actions.onInspect()}>Inspect</Button>
        <MoreActions actions={actions} />
      </div>
    </li>
  );
}

/** While the run is under way: which loop drives it, and the door to its inspector. */
export function RunningLine({ trace, actions }: { trace: RunTrace; actions: AnswerActions }) {
  if (!trace.runId) return null;
  const facts: Fact[] = [
    ...(trace.model ? [{ key: "model", words: trace.model }] : []),
    ...(trace.loop ? [{ key: "loop", words: loopWords(trace.loop, undefined) }] : []),
  ];
  return (
    <li className={ROW} data-part="running">
      <Facts facts={facts} compact={false} />
      <Button className="-ms-2" onClick={() => actions.onInspect()}>
        Inspect
      </Button>
    </li>
  );
}

function Facts({ facts, compact }: { facts: readonly Fact[]; compact: boolean }) {
  return (
    <p className={`min-w-0 py-1 tabular-nums wrap-anywhere ${compact ? "basis-full" : "flex-[1_1_16rem]"}`}>
      {facts.map(({ key, words, title }, index) => (
        <Fragment key={key}>
          {index > 0 && " "}
          <span
            className="inline-block max-w-full data-[fact=asked]:normal-nums data-[fact=model]:normal-nums"
            data-fact={key}
            title={title}
          >
            {words}
            {title && <span className="sr-only">, {title}</span>}
            {index < facts.length - 1 && <span className="ms-1 text-edge-strong">·</span>}
          </span>
        </Fragment>
      ))}
    </p>
  );
}

function MoreActions({ actions: { onRetryWith, onSave } }: { actions: AnswerActions }) {
  if (!onRetryWith && !onSave) return null;
  return (
    <Menu
      trigger={
        <Button size="icon-small" aria-label="More">
          <Ellipsis aria-hidden="true" />
        </Button>
      }
    >
      {onRetryWith && <MenuItem onSelect={() => onRetryWith()}>Retry with another model</MenuItem>}
      {onSave && <MenuItem onSelect={onSave}>Keep a copy</MenuItem>}
    </Menu>
  );
}

function factsOf(trace: RunTrace, end: RunEnd): Fact[] {
  const { usage } = end;
  const served = end.model ?? (end.local ? undefined : trace.model || end.requested_model);
  const loop = end.loop ?? trace.loop;
  const facts: (Fact | false | undefined | "")[] = [
    served && { key: "model", words: end.provider ? `${served} via ${end.provider}` : served },
    end.requested_model &&
      served &&
      end.requested_model !== served && { key: "asked", words: `asked for ${end.requested_model}` },
    trace.totalMs !== undefined && { key: "time", words: duration(trace.totalMs) },
    // A run that failed at once has an event, and no token.
    trace.firstEventMs !== undefined &&
      trace.items.some((item) => item.kind !== "warning") && {
        key: "first",
        words: `first token ${duration(trace.firstEventMs)}`,
        title: "from the question to the first sign of the model",
      },
    usage && { key: "tokens", words: `${count(usage.input + usage.output)} tokens`, title: usageWords(usage) },
    end.cost !== undefined && {
      key: "cost",
      words: costWords(end.cost, { simulated: end.simulated === true, estimated: end.cost_estimated === true }),
      title: costNote(end),
    },
    loop && { key: "loop", words: `loop ${loop}`, title: loopWords(loop, end.flag).split(", ")[1] },
    end.simulated && {
      key: "simulated",
      words: (
        <span className="inline-flex items-baseline gap-1 [&_svg]:size-2.5">
          <Lamp lamp="blue" /> simulated
        </span>
      ),
    },
  ];
  return facts.filter((fact): fact is Fact => Boolean(fact));
}

const costNote = ({ simulated, cost_estimated }: RunEnd): string | undefined => {
  if (simulated) return "simulated answers are free";
  return cost_estimated ? "a part of the run never told what it cost" : undefined;
};

const usageWords = ({ input, output, reasoning, cached }: NonNullable<RunEnd["usage"]>): string =>
  [
    `${count(input)} read${cached ? ` (${count(cached)} from a cache)` : ""}`,
    `${count(output)} written${reasoning ? ` (${count(reasoning)} of them reasoning)` : ""}`,
  ].join(", ");
