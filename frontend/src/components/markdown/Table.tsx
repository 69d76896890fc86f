// A table that scrolls in its box and can be copied as CSV.
import { type ReactNode, useRef } from "react";
import { csvOf } from "../../logic/markdown/csv.ts";
import { Copy } from "../ui/Copy.tsx";

export function Table({ children, label = "Table" }: { children: ReactNode; label?: string }) {
  const table = useRef<HTMLTableElement>(null);
  const rows = () =>
    [...(table.current?.rows ?? [])].map((row) => [...row.cells].map((cell) => cell.textContent ?? ""));
  return (
    <div className="table-box" dir="auto">
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: it is no group of fields. */}
      <div className="table-scroll" role="group" tabIndex={0} aria-label={label}>
        <table ref={table}>{children}</table>
      </div>
      {/* biome-ignore-end lint/a11y/useSemanticElements: it is no group of fields. */}
      {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
      <div className="table-foot">
        <Copy text={() => csvOf(rows())}>Copy as CSV</Copy>
      </div>
    </div>
  );
}
