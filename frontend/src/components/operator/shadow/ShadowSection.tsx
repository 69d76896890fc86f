// The section "Shadow mode": how runs differ on the other loop, before it gets any traffic, and what that costs.
import { usePolled } from "../../../hooks/polled.ts";
import { SHADOW_OUTCOMES, shadowCount, shadowState } from "../../../logic/pages/shadow.ts";
import { cost, count } from "../../../logic/wording/statusAndAmounts.ts";
import { fetchShadowReport } from "../../../state/operator/shadow.ts";
import type { ShadowReport } from "../../../types/shadow.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { Lamp } from "../../ui/Lamp.tsx";
import { EmptyNote, LoadingNote } from "../PlainTable.tsx";
import { EndingBar } from "../runs/EndingBar.tsx";
import { UsageBar } from "../UsageBar.tsx";
import { ShadowRuns } from "./ShadowRuns.tsx";

const EVERY_MS = 10_000;

export function ShadowSection() {
  const { value: report, trouble } = usePolled(fetchShadowReport, EVERY_MS);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <section aria-labelledby="shadow-title" className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <h2 id="shadow-title" className="font-semibold text-title">
          Shadow mode
        </h2>
        <p className="max-w-measure text-dim text-small">
          Makes a share of the complete runs again on the other loop, in the background, and compares them. Users see
          nothing of it, and no tool is executed.
        </p>
        {trouble && <PageAlert>{trouble} Retrying every 10 seconds.</PageAlert>}
        {!report && !trouble && <LoadingNote />}
        {report && <StateCard report={report} />}
      </section>
      {report && (shadowCount(report) > 0 || report.percent > 0) && <Outcomes report={report} />}
      {report && report.newest.length > 0 && <ShadowRuns runs={report.newest} />}
    </div>
  );
}

function StateCard({ report }: { report: ShadowReport }) {
  const { percent, dailyCost, costToday, cost: total } = report;
  const { lamp, words } = shadowState(report);
  return (
    <div className="grid gap-4 rounded-md border border-edge bg-raised p-5 narrow:p-4">
      <p role="status" className="flex items-center gap-2 font-semibold">
        <Lamp lamp={lamp} /> {words}
      </p>
      {percent === 0 && (
        <p className="max-w-measure text-small">
          To switch it on, set <code>SIGNALBOX_SHADOW_PERCENT</code> on the server, for example to 5, and restart it.
          Requests to models cost money, at most <code>SIGNALBOX_SHADOW_DAILY_COST</code> per day.
        </p>
      )}
      <dl className="grid grid-cols-2 gap-4 text-small narrow:grid-cols-1">
        <div className="grid content-start gap-1.5">
          <dt className="text-dim">Cost today (UTC)</dt>
          <dd className="grid gap-1.5 tabular-nums">
            {cost(costToday)} of {cost(dailyCost)}
            <UsageBar used={costToday} budget={dailyCost} />
          </dd>
        </div>
        <div className="grid content-start gap-1.5">
          <dt className="text-dim">Cost of the last 30 days</dt>
          <dd className="tabular-nums">{cost(total)}</dd>
        </div>
      </dl>
    </div>
  );
}

function Outcomes({ report }: { report: ShadowReport }) {
  const total = shadowCount(report);
  const endings = SHADOW_OUTCOMES.map(({ outcome, name, lamp }) => ({ name, lamp, count: report.counts[outcome] }));
  const some = endings.filter((ending) => ending.count > 0);
  return (
    <section aria-labelledby="shadow-outcomes" className="grid gap-3">
      <h2 id="shadow-outcomes" className="font-semibold">
        Results of the last 30 days
      </h2>
      {total === 0 ? (
        <EmptyNote>No run was made again yet.</EmptyNote>
      ) : (
        <>
          <EndingBar
            endings={some}
            total={total}
            label={some.map(({ name, count: runs }) => `${name}: ${count(runs)}`).join(", ")}
          />
          <ul className="grid gap-1 text-small tabular-nums">
            {endings.map(({ name, lamp, count: runs }) => (
              <li key={name} data-part="outcome" className="flex items-center gap-2">
                <Lamp lamp={lamp} /> <span className="min-w-8 text-end font-medium">{count(runs)}</span> {name}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
