// The scrolling box of a large table, which renders only the rows in view.
import {
  type CSSProperties,
  type FocusEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Row } from "../../logic/table/dataTable.ts";
import type { DataTable } from "../../types/dataTable.ts";

/** Smaller tables are rendered whole, so that the browser's search finds every row. */
const MOST_WHOLE = 50;

export const isLarge = ({ data }: DataTable): boolean => data.length > MOST_WHOLE;

/** So many rows before and after the one with the focus stay rendered: not every row has something to focus. */
const NEAR = 10;

/**
 * Rows have their index in `data-index`. `kept` are the row with the focus and those near it, which stay rendered out of
 * view: Tab may be pressed faster than the box scrolls, and leaves the table if the next row is not there.
 */
export function useRowWindow(rows: readonly Row[]) {
  const box = useRef<HTMLElement>(null);
  const [focused, setFocused] = useState<number>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new order is read from its beginning.
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = 0;
  }, [rows]);
  const kept = useMemo(() => near(focused, rows.length), [focused, rows.length]);
  const stopFollowing = useFollowedRow(box, focused);
  const onFocus = ({ target }: FocusEvent) => {
    const index = target.closest("[data-index]")?.getAttribute("data-index");
    setFocused(index ? Number(index) : undefined);
  };
  // Between two rows, the next one must stay until it has the focus.
  const onBlur = ({ relatedTarget }: FocusEvent) => {
    if (!(relatedTarget instanceof Node && box.current?.contains(relatedTarget))) setFocused(undefined);
  };
  const scrolled = { onWheel: stopFollowing, onTouchMove: stopFollowing, onPointerDown: stopFollowing };
  return { box, kept, boxProps: { ref: box, onFocus, onBlur, ...scrolled } };
}

/**
 * Keep the row with the focus in view when rows before it are measured, which moves it. The result ends that: the reader
 * scrolls elsewhere.
 */
function useFollowedRow(box: RefObject<HTMLElement | null>, focused: number | undefined): () => void {
  const isFollowing = useRef(false);
  useEffect(() => {
    const row = focused === undefined ? undefined : box.current?.querySelector(`[data-index="${focused}"]`);
    if (!row?.parentElement) return;
    isFollowing.current = true;
    const observer = new ResizeObserver(() => isFollowing.current && row.scrollIntoView({ block: "nearest" }));
    observer.observe(row.parentElement);
    return () => observer.disconnect();
  }, [box, focused]);
  return () => {
    isFollowing.current = false;
  };
}

function near(index: number | undefined, count: number): readonly number[] {
  if (index === undefined) return [];
  const first = Math.max(0, index - NEAR);
  const end = Math.min(count, index + NEAR + 1);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
}

/** Rows that are not measured yet are transparent, not hidden: Tab skips what is hidden. */
export function focusable<Placed extends { style?: CSSProperties }>(placed: Placed): Placed {
  if (placed.style?.visibility !== "hidden") return placed;
  return { ...placed, style: { ...placed.style, visibility: "visible", opacity: 0 } };
}
