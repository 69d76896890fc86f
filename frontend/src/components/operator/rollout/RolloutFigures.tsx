// The runs of both loops that the guard compares, per window.
import { tallyTexts, windowText } from "../../../logic/pages/rollout.ts";
import { count } from "../../../logic/wording/statusAndAmounts.ts";
import type { Rollout } from "../../../types/rollout.ts";
import { CELL, CellName, PlainTable, ROW } from "../PlainTable.tsx";

const HEADS = [
  "Window",
  "Loop",
  "Runs",
  "Failed",
  "Interrupted",
  "Empty",
  "First token (mean)",
  "Cost (mean)",
] as const;
const LOOPS = ["v2", "legacy"] as const;
// The window and the loop need no name on a phone.
const NAMED = 2;

/** The last minutes before the end say nothing about now. */
const isShown = (plan: Rollout["plan"], window: string): boolean =>
  plan?.state === "running" || plan?.isWatched === true || window === "stage";

export function RolloutFigures({ rollout: { plan, figures, evidence, threshold, watch } }: { rollout: Rollout }) {
  return (
    <section aria-labelledby="figures" className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2 id="figures" className="font-semibold">
        Comparison of the loops
      </h2>
      {watch && (
        <p className="text-dim text-small">
          Evidence that V2 has become worse: {watch.evidence.toPrecision(3)}. At {count(watch.threshold)}, the rollout
          steps back.
        </p>
      )}
      {plan?.state !== "finished" && evidence !== undefined && threshold !== undefined && (
        <p className="text-dim text-small">
          Evidence that V2 is worse: {evidence.toPrecision(3)}. At {count(threshold)}, the guard sets V2 back.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
      <section className="overflow-x-auto" tabIndex={0} aria-label="Figures per window and loop">
        <PlainTable label="Figures" heads={HEADS}>
          {figures
            .filter(({ window }) => isShown(plan, window))
            .flatMap(({ window, ...tallies }) =>
              LOOPS.map((loop) => (
                <tr key={`${window} ${loop}`} className={ROW}>
                  {[windowText(window), loop, ...tallyTexts(tallies[loop])].map((words, index) => (
                    <td
                      key={HEADS[index]}
                      className={`${CELL} whitespace-nowrap narrow:me-3 narrow:inline-block ${index < NAMED ? "narrow:font-medium" : ""}`}
                    >
                      {index >= NAMED && <CellName>{HEADS[index]}:</CellName>}
                      {words}
                    </td>
                  ))}
                </tr>
              )),
            )}
        </PlainTable>
      </section>
    </section>
  );
}
