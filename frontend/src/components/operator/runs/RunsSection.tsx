// The section "Runs": the filter, the results by loop, and the runs that match.
import { byLoop } from "../../../logic/pages/operator.ts";
import { isFiltered } from "../../../logic/pages/runFilter.ts";
import type { Operator } from "../../../state/operator/operator.ts";
import type { Place } from "../../../state/operator/place.ts";
import { exportRuns } from "../../../state/operator/runExport.ts";
import { useStore } from "../../../state/store.ts";
import { Button } from "../../ui/Button.tsx";
import { ActionButton } from "../ActionButton.tsx";
import { LoopCard } from "./LoopCard.tsx";
import { RunFilters } from "./RunFilters.tsx";
import { RunList } from "./RunList.tsx";

export function RunsSection({ operator, place }: { operator: Operator; place: Place }) {
  const { filter } = useStore(place);
  const { runs, next, isAll, isOwn, asOf, isFetchingOlder, isFiltering, filterTrouble } = useStore(operator);
  if (asOf === undefined) return null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <section aria-labelledby="runs-title" className="grid gap-3">
        <header className="flex flex-wrap items-center gap-2">
          <h2 id="runs-title" className="me-auto font-semibold text-title">
            Runs
          </h2>
          {/* All runs that match, not only those shown. */}
          <ActionButton run={() => exportRuns(filter)} busy="Exporting…" failed="Not exported.">
            Export NDJSON
          </ActionButton>
        </header>
        <RunFilters
          filter={filter}
          runs={runs}
          isOperator={isAll}
          trouble={filterTrouble}
          onChange={(wanted) => place.setFilter(wanted)}
        />
      </section>
      <section aria-labelledby="loops" className="grid gap-2">
        <h2 id="loops" className="font-semibold">
          Results by loop
        </h2>
        <p className="max-w-measure text-dim text-small">
          Based on the runs below,{" "}
          {isAll ? "from all users" : isOwn ? "only your own" : "only those without an API token"}. Runs stopped by the
          user are not counted.
        </p>
        {!isAll && (
          <p>
            <Button look="outline" size="medium" onClick={() => operator.showAll()}>
              Show all users' runs
            </Button>
          </p>
        )}
        {!filterTrouble && (
          <div className="grid grid-cols-2 gap-4 narrow:grid-cols-1">
            {byLoop(runs).map((group) => (
              <LoopCard key={group.loop} group={group} />
            ))}
          </div>
        )}
      </section>
      {!filterTrouble && (
        <RunList
          runs={runs}
          isAll={isAll}
          isFiltered={isFiltered(filter)}
          isFiltering={isFiltering}
          asOf={asOf}
          onOlder={next === undefined ? undefined : () => void operator.loadOlder()}
          isFetchingOlder={isFetchingOlder}
        />
      )}
    </div>
  );
}
