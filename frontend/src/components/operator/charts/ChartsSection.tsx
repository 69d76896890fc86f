// The section "Charts": outcomes and latency by loop, of the runs that match the filter of the address.
import { useCallback } from "react";
import { usePolled } from "../../../hooks/polled.ts";
import { isFiltered, PERIODS, withField } from "../../../logic/pages/runFilter.ts";
import { latencyCharts, outcomeCharts, type RunStats } from "../../../logic/pages/runStats.ts";
import type { Place } from "../../../state/operator/place.ts";
import { fetchRunStats } from "../../../state/operator/runStats.ts";
import { useStore } from "../../../state/store.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { SelectBox } from "../../pages/SelectBox.tsx";
import { EmptyNote, LoadingNote } from "../PlainTable.tsx";
import { ChartCard } from "./ChartCard.tsx";

const EVERY_MS = 30_000;

export function ChartsSection({ place, isAll, isOwn }: { place: Place; isAll: boolean; isOwn: boolean }) {
  const { filter } = useStore(place);
  const load = useCallback(() => fetchRunStats(filter), [filter]);
  const { value: stats, trouble } = usePolled(load, EVERY_MS);

  const others = isFiltered(withField(withField(withField(filter, "period", ""), "since", ""), "until", ""));
  return (
    <section aria-labelledby="charts-title" className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <header className="flex flex-wrap items-center gap-2">
        <h2 id="charts-title" className="me-auto font-semibold text-title">
          Outcomes and latency
        </h2>
        {filter.since === undefined && filter.until === undefined && (
          <SelectBox
            label="Time"
            value={filter.period ?? "24h"}
            options={PERIODS.map(({ value, words }) => [value, words] as const)}
            onChange={(period) => place.setFilter(withField(filter, "period", period))}
          />
        )}
      </header>
      <p className="text-dim text-small">
        {isAll ? "Runs of all users" : isOwn ? "Your own runs" : "Runs without an API token"}, by the time of their
        start.
        {others && (
          <>
            {" "}
            The{" "}
            <a href="#runs" className="underline">
              filter of the runs
            </a>{" "}
            applies.
          </>
        )}
      </p>
      {trouble && <PageAlert>{trouble}</PageAlert>}
      {!stats && !trouble && <LoadingNote />}
      {stats && <Charts stats={stats} />}
    </section>
  );
}

function Charts({ stats }: { stats: RunStats }) {
  if (stats.buckets.length === 0) return <EmptyNote>No runs in this time.</EmptyNote>;
  return (
    <div className="grid grid-cols-2 gap-4 narrow:grid-cols-[minmax(0,1fr)]">
      {[...outcomeCharts(stats), ...latencyCharts(stats)].map((chart) => (
        <ChartCard key={chart.title} chart={chart} />
      ))}
    </div>
  );
}
