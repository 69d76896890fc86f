// The tables of tool results. They stay visible below the steps that found them, also when the steps fold.
import { memo, Suspense } from "react";
import { tableOf } from "../../logic/table/dataTable.ts";
import { isOpen } from "../../logic/trace/items.ts";
import type { CallItem } from "../../types/models.ts";
import { ErrorBoundary } from "../ui/ErrorBoundary.tsx";
import { later } from "../ui/later.tsx";
import { useToolsWithTable } from "../ui/Tools.tsx";

const DataTableView = later(() => import("./DataTableView.tsx").then(({ DataTableView }) => DataTableView));

export function ResultTables({ calls }: { calls: readonly CallItem[] }) {
  const withTable = useToolsWithTable();
  const shown = calls.filter((call) => tableOf(call.artifact) || (isOpen(call) && withTable.has(call.name)));
  return shown.map((call) => <ResultTable key={call.id} call={call} />);
}

/** Unchanged calls are the same objects, so a token does not render a table again. */
const ResultTable = memo(function ResultTable({ call }: { call: CallItem }) {
  const table = tableOf(call.artifact);
  return (
    <li className="relative flow-root min-w-0 ps-7 pb-4 before:absolute before:-top-0.5 before:-bottom-0.5 before:start-[5.25px] before:border-edge before:border-s-[1.5px]">
      {table ? (
        <ErrorBoundary fallback={<p className="text-dim">This table cannot be shown.</p>}>
          <Suspense fallback={<Skeleton />}>
            <DataTableView table={table} />
          </Suspense>
        </ErrorBoundary>
      ) : (
        <Skeleton />
      )}
    </li>
  );
});

const Skeleton = () => (
  <div aria-hidden="true" data-part="table-skeleton" className="grid gap-1.5 motion-safe:animate-pulse">
    <div className="h-4 w-1/3 rounded-sm bg-sunken" />
    <div className="h-24 rounded-md bg-sunken" />
  </div>
);
