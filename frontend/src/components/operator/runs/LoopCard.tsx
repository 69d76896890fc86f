// The statistics of one loop: the share of completed runs, the other endings, and its latest runs as lamps.
import { inList, type LoopRuns, runLamp } from "../../../logic/pages/operator.ts";
import { costText, count, duration } from "../../../logic/wording/statusAndAmounts.ts";
import { Lamp } from "../../ui/Lamp.tsx";
import { EndingBar } from "./EndingBar.tsx";

const LAST = 24;

export function LoopCard({ group }: { group: LoopRuns }) {
  const { loop, runs, words, endings, share } = group;
  const id = `loop-${loop}`;
  return (
    <section
      aria-labelledby={id}
      data-part="loop"
      className="grid content-start gap-3 rounded-md border border-edge bg-raised p-4"
    >
      <header className="flex items-baseline justify-between gap-3">
        <h3 id={id} className="font-semibold">
          Loop {loop}
        </h3>
        <p className="text-dim text-small tabular-nums">
          {runs.length === 0 ? "no runs yet" : `${count(runs.length)} shown`}
        </p>
      </header>
      {runs.length > 0 && (
        <>
          <p>
            {share === undefined ? (
              <span className="text-dim text-small">No finished runs yet.</span>
            ) : (
              <>
                <b className="font-semibold text-title tabular-nums">{share}%</b>{" "}
                <span className="text-dim text-small">completed</span>
              </>
            )}
          </p>
          <EndingBar endings={endings} total={runs.length} label={words} />
          <ul className="flex flex-wrap gap-x-4 gap-y-1 text-small tabular-nums">
            {endings.map(({ name, lamp, count: some }) => (
              <li key={name} className="flex items-center gap-1.5">
                <Lamp lamp={lamp} /> {count(some)} {inList(name)}
              </li>
            ))}
          </ul>
          <Medians group={group} />
          <LastRuns group={group} />
        </>
      )}
    </section>
  );
}

/** Medians, because a few long runs would distort a mean. */
function Medians({ group: { ms, cost } }: { group: LoopRuns }) {
  if (ms === undefined) return null;
  return (
    <p className="text-dim text-small tabular-nums">
      Median {duration(ms)}
      {cost && ` · ${costText(cost.usd, { simulated: cost.simulated, estimated: false })}`}
    </p>
  );
}

/** Shows patterns in time, such as three recent failures in a row. The list below has the same as text. */
function LastRuns({ group: { runs } }: { group: LoopRuns }) {
  return (
    <p className="flex items-center gap-1 overflow-hidden border-edge border-t pt-3" aria-hidden="true">
      <span className="me-1 text-dim text-tiny">now</span>
      {runs.slice(0, LAST).map((run) => (
        <Lamp key={run.runId} lamp={runLamp(run)} />
      ))}
    </p>
  );
}
