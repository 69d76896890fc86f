// The scrolling box of a large table, which renders only the rows in view.
import { type FocusEvent, useLayoutEffect, useRef, useState } from "react";
import type { Row } from "../../logic/table/dataTable.ts";
import type { DataTable } from "../../types/dataTable.ts";

/** Smaller tables are rendered whole, so that the browser's search finds every row. */
const MOST_WHOLE = 50;

export const isLarge = ({ data }: DataTable): boolean => data.length > MOST_WHOLE;

/** Rows have their index in `data-index`. `kept` is the row with the focus, which stays rendered out of view. */
export function useRowWindow(rows: readonly Row[]) {
  const box = useRef<HTMLElement>(null);
  const [kept, keep] = useState<readonly number[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new order is read from its beginning.
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = 0;
  }, [rows]);
  const onFocus = ({ target }: FocusEvent) => {
    const index = target.closest("[data-index]")?.getAttribute("data-index");
    keep(index ? [Number(index)] : []);
  };
  return { box, kept, boxProps: { ref: box, onFocus, onBlur: () => keep([]) } };
}
