// The last line of an answer: how the run ended, its figures, and its buttons.
import { Ellipsis } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import { hasAnswer } from "../../logic/answer/copiedText.ts";
import type { ReachedLimit } from "../../logic/answer/reachedLimit.ts";
import type { Fix } from "../../logic/wording/advice.ts";
import {
  costText,
  count,
  duration,
  endingOf,
  isCut,
  isFailure,
  loopText,
} from "../../logic/wording/statusAndAmounts.ts";
import type { RunEnd, RunTrace } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";
import { DOT, DottedList } from "../ui/DottedList.tsx";
import { Lamp } from "../ui/Lamp.tsx";
import { Menu, MenuItem } from "../ui/Menu.tsx";
import { CopyActions } from "./CopyActions.tsx";
import { LimitButton } from "./failure/LimitButton.tsx";

interface Fact {
  key: string;
  words: ReactNode;
  /** The tooltip: a reason or a definition. */
  title?: string | undefined;
}

interface Props {
  trace: RunTrace;
  end: RunEnd;
  actions: AnswerActions;
  /** The answer can be continued. */
  goOn: boolean;
  /** The buttons of the error box below. */
  fixes: readonly Fix[];
  /** The limit of the request that the run reached. */
  limit: ReachedLimit | undefined;
  compact: boolean;
}

const ROW = "relative flex min-h-7 flex-wrap items-start gap-x-4 ps-7 text-dim";

export function EndLine({ trace, end, actions, goOn, fixes, limit, compact }: Props) {
  const ending = endingOf(end);
  const facts: Fact[] = [
    ...(ending.label && !isCut(end)
      ? [{ key: "ending", words: <strong className="font-semibold text-ink">{ending.label}</strong> }]
      : []),
    ...factsOf(trace, end, compact),
  ];
  return (
    <li className={ROW} data-part="end" data-status={end.status}>
      <span className="absolute top-2 start-0 flex">
        <Lamp lamp={ending.lamp} spoken={ending.label === "" || isCut(end)} />
      </span>
      <Facts facts={facts} compact={compact} />
      <div className="-ms-2 flex flex-wrap items-center">
        {hasAnswer(trace) && <CopyActions trace={trace} />}
        {goOn && !isFailure(end) && <Button onClick={actions.onContinue}>Continue</Button>}
        {!isFailure(end) && <LimitButton limit={limit} actions={actions} />}
        {/* After a failure without an answer, the error box has the Retry button. */}
        {actions.onRetry && !fixes.includes("retry") && (!isFailure(end) || hasAnswer(trace)) && (
          <Button onClick={actions.onRetry}>Regenerate</Button>
        )}
        <Button onClick={() => actions.onInspect()} title={loopTitle(end.loop ?? trace.loop, end.flag)}>
          Run details
        </Button>
        <MoreActions actions={actions} />
      </div>
    </li>
  );
}

/** During the run: its model, and a button that opens its details. */
export function RunningLine({ trace, actions }: { trace: RunTrace; actions: AnswerActions }) {
  if (!trace.runId) return null;
  return (
    <li className={ROW} data-part="running">
      <Facts facts={trace.model ? [{ key: "model", words: trace.model }] : []} compact={false} />
      <Button className="-ms-2" onClick={() => actions.onInspect()} title={loopTitle(trace.loop, undefined)}>
        Run details
      </Button>
    </li>
  );
}

/** The loop only matters to engineers, so it is only in the run details and in the tooltip of their button. */
const loopTitle = (loop: RunTrace["loop"], flag: RunEnd["flag"]): string | undefined =>
  loopText(loop, flag).replace(/^l/, "L") || undefined;

function Facts({ facts, compact }: { facts: readonly Fact[]; compact: boolean }) {
  return (
    <p className={`min-w-0 py-1 tabular-nums wrap-anywhere ${compact ? "basis-full" : "flex-[1_1_16rem]"}`}>
      <DottedList>
        {facts.map(({ key, words, title }) => (
          <Fragment key={key}>
            <span
              className={`${DOT} data-[fact=asked]:normal-nums data-[fact=model]:normal-nums`}
              data-fact={key}
              title={title}
            >
              {words}
              {title && <span className="sr-only">, {title}</span>}
            </span>{" "}
          </Fragment>
        ))}
      </DottedList>
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
      {onRetryWith && <MenuItem onSelect={() => onRetryWith()}>Regenerate with another model</MenuItem>}
      {onSave && <MenuItem onSelect={onSave}>Save</MenuItem>}
    </Menu>
  );
}

function factsOf(trace: RunTrace, end: RunEnd, compact: boolean): Fact[] {
  const { usage } = end;
  const served = end.model ?? (end.local ? undefined : trace.model || end.requested_model);
  const first = firstToken(trace);
  const facts: (Fact | false | undefined | "")[] = [
    served && { key: "model", words: end.provider ? `${served} via ${end.provider}` : served },
    end.upstream && { key: "upstream", words: `at ${end.upstream}`, title: "the upstream that answered" },
    end.requested_model &&
      served &&
      end.requested_model !== served && { key: "asked", words: `requested ${end.requested_model}` },
    trace.totalMs !== undefined && {
      key: "time",
      words: duration(trace.totalMs),
      title: first && !compact ? `first token after ${first}` : undefined,
    },
    // Columns show the time to the first token, because readers compare it.
    first && compact && { key: "first", words: `first token ${first}`, title: "time until the model's first output" },
    usage && { key: "tokens", words: `${count(usage.input + usage.output)} tokens`, title: usageText(usage) },
    end.cost !== undefined && {
      key: "cost",
      words: costText(end.cost, { simulated: end.simulated === true, estimated: end.cost_estimated === true }),
      title: costNote(end),
    },
    // "would cost" already says that the run was simulated.
    end.simulated &&
      end.cost === undefined && {
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

/** A run that failed at once has an event but no token. */
const firstToken = ({ firstEventMs, items }: RunTrace): string | undefined =>
  firstEventMs !== undefined && items.some((item) => item.kind !== "warning") ? duration(firstEventMs) : undefined;

const costNote = ({ simulated, cost_estimated }: RunEnd): string | undefined => {
  if (simulated) return "simulated answers are free";
  return cost_estimated ? "the provider did not report the cost of every request" : undefined;
};

const usageText = ({ input, output, reasoning, cached }: NonNullable<RunEnd["usage"]>): string =>
  [
    `${count(input)} input${cached ? ` (${count(cached)} cached)` : ""}`,
    `${count(output)} output${reasoning ? ` (${count(reasoning)} reasoning)` : ""}`,
  ].join(", ");
