// The section "Spend": what runs cost in a time, by user, group, model or day, and what is left of budgets.
import { useCallback, useState } from "react";
import { usePolled } from "../../../hooks/polled.ts";
import {
  type Days,
  daysOf,
  GROUPINGS,
  OWN_GROUPINGS,
  SPEND_PERIODS,
  type SpendPeriod,
  spendChart,
} from "../../../logic/pages/spend.ts";
import { downloadSpend, fetchSpend } from "../../../state/operator/spend.ts";
import type { SpendBy } from "../../../types/operator.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { ActionButton } from "../ActionButton.tsx";
import { ChartCard } from "../charts/ChartCard.tsx";
import { Field } from "../Field.tsx";
import { EmptyNote, LoadingNote } from "../PlainTable.tsx";
import { SelectField } from "../SelectField.tsx";
import { BudgetTable } from "./BudgetTable.tsx";
import { SpendTable } from "./SpendTable.tsx";

const EVERY_MS = 30_000;

/** `isOwn`: the costs are only those of the token or the person, so there are no users, groups and budgets. */
export function SpendSection({ isOwn = false }: { isOwn?: boolean }) {
  const [by, setBy] = useState<SpendBy>(isOwn ? "model" : "owner");
  const [period, setPeriod] = useState<SpendPeriod>("month");
  const [days, setDays] = useState<Days>(() => daysOf("month", Date.now()));
  const load = useCallback(() => loadBoth(by, days), [by, days]);
  const { value, trouble, isLoading } = usePolled(load, EVERY_MS);

  const choosePeriod = (chosen: SpendPeriod) => {
    setPeriod(chosen);
    if (chosen !== "custom") setDays(daysOf(chosen, Date.now()));
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <section aria-labelledby="spend-title" className="grid grid-cols-[minmax(0,1fr)] gap-4" aria-busy={isLoading}>
        <header className="flex flex-wrap items-center gap-2">
          <h2 id="spend-title" className="me-auto font-semibold text-title">
            Spend
          </h2>
          <ActionButton run={() => downloadSpend(by, days)} busy="Downloading…" failed="Not downloaded.">
            Download CSV
          </ActionButton>
        </header>
        <p className="max-w-measure text-dim text-small">
          What {isOwn ? "your own runs" : "runs"} cost, in USD. A run counts on the UTC day of its start, once it has
          ended. Deleted runs stay counted.
        </p>
        <div className="grid grid-cols-4 gap-3 narrow:grid-cols-2">
          <SelectField label="Time" value={period} options={SPEND_PERIODS} onChange={choosePeriod} />
          <SelectField label="Added up" value={by} options={isOwn ? OWN_GROUPINGS : GROUPINGS} onChange={setBy} />
          {period === "custom" && <DayFields days={days} onChange={setDays} />}
        </div>
        {trouble && <PageAlert>{trouble}</PageAlert>}
        {!value && !trouble && <LoadingNote />}
        {value &&
          (value.spend.rows.length === 0 ? (
            <EmptyNote>No runs in this time.</EmptyNote>
          ) : (
            <>
              <ChartCard chart={value.chart} />
              <SpendTable by={value.by} spend={value.spend} />
            </>
          ))}
      </section>
      {!isOwn && <BudgetTable />}
    </div>
  );
}

/** The costs and, for the chart, the costs by day. */
async function loadBoth(by: SpendBy, days: Days) {
  const [spend, byDay] = await Promise.all([fetchSpend(by, days), fetchSpend("day", days)]);
  return { by, spend, chart: spendChart(byDay) };
}

function DayFields({ days, onChange }: { days: Days; onChange: (days: Days) => void }) {
  return (["first", "last"] as const).map((field) => (
    <Field
      key={field}
      label={field === "first" ? "First day (UTC)" : "Last day (UTC)"}
      type="date"
      value={days[field]}
      // A day that is being typed is empty.
      onChange={({ target }) => target.value && onChange({ ...days, [field]: target.value })}
    />
  ));
}
