// A list of the sidebar, grouped by day. It is one tab stop with arrow keys, and virtual if it is long.
import { type KeyboardEvent, type ReactElement, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { groupByDay } from "../../logic/chat/dayGroups.ts";
import { LoadMoreButton } from "./LoadMoreButton.tsx";
import { focusSearch, lineOf, linkOf } from "./lineFocus.ts";

interface Props<Line> {
  lines: readonly Line[];
  timeOf: (line: Line) => number;
  here: string | undefined;
  hasMore: boolean;
  /** More lines load when the end comes into view. */
  loadsAutomatically: boolean;
  onMore: () => void;
  onDelete: (id: string) => void;
  onRename?: (id: string) => void;
  /** Set to a function that focuses a line and scrolls to it if necessary. */
  focusRef: RefObject<((id: string) => void) | null>;
  /** `isStop`: the tab key reaches this line. */
  row: (line: Line, isStop: boolean) => ReactElement;
}

type Entry<Line> = { head: string } | { line: Line };

/** Shorter lists are rendered whole, so that the browser's search finds every line. */
const DRAWN_WHOLE = 100;

export function LineList<Line extends { id: string }>(props: Props<Line>) {
  const { lines, timeOf, here } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useRef<VirtualizerHandle>(null);
  const [stop, setStop] = useState(here);
  const ids = useMemo(() => lines.map(({ id }) => id), [lines]);
  const entries = useMemo(() => entriesOf(lines, timeOf), [lines, timeOf]);
  const current = [stop, here].find((id) => id !== undefined && ids.includes(id)) ?? ids[0];
  const entryOf = (id: string | undefined) => entries.findIndex((entry) => "line" in entry && entry.line.id === id);

  const focusLink = useLinkFocus(scroller);
  const focus = (id: string) => {
    setStop(id);
    virtual.current?.scrollToIndex(entryOf(id), { align: "nearest" });
    focusLink(id);
  };
  useEffect(() => {
    props.focusRef.current = focus;
  });

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const id = lineOf(event.target);
    // Keys in the title field and in the menu are handled there.
    if (id === undefined || event.target instanceof HTMLInputElement || event.defaultPrevented) return;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const at = ids.indexOf(id);
    const next = nextOf(event.key, at, ids.length);
    if (next === undefined && !(event.key === "Delete" || (event.key === "F2" && props.onRename))) return;
    event.preventDefault();
    if (event.key === "Delete") props.onDelete(id);
    else if (event.key === "F2") props.onRename?.(id);
    else if (next === -1) focusSearch(event.currentTarget);
    else focus(ids[next ?? at] ?? id);
  };

  const draw = (entry: Entry<Line>): ReactElement =>
    "head" in entry ? (
      <Head key={`day ${entry.head}`} name={entry.head} />
    ) : (
      props.row(entry.line, entry.line.id === current)
    );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the links inside
    <div
      ref={scroller}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-1.5 pb-3"
      onKeyDown={onKeyDown}
      onFocus={(event) => setStop((old) => lineOf(event.target) ?? old)}
    >
      {lines.length > DRAWN_WHOLE ? (
        <Virtualizer
          ref={virtual}
          scrollRef={scroller}
          as="ul"
          item="li"
          data={entries}
          keepMounted={current === undefined ? [] : [entryOf(current)]}
        >
          {draw}
        </Virtualizer>
      ) : (
        <ul>
          {entries.map((entry) => (
            <li key={"head" in entry ? `day ${entry.head}` : entry.line.id}>{draw(entry)}</li>
          ))}
        </ul>
      )}
      {props.hasMore && (
        <LoadMoreButton count={lines.length} loadsAutomatically={props.loadsAutomatically} onMore={props.onMore} />
      )}
    </div>
  );
}

/** Focus a line's link. A line that is not rendered yet is focused once it is. */
function useLinkFocus(scroller: RefObject<HTMLElement | null>): (id: string) => void {
  const wanted = useRef<string>(undefined);
  useEffect(() => {
    const link = wanted.current === undefined ? undefined : linkOf(scroller.current, wanted.current);
    if (!link) return;
    wanted.current = undefined;
    link.focus();
  });
  return (id) => {
    const link = linkOf(scroller.current, id);
    wanted.current = link ? undefined : id;
    link?.focus();
  };
}

function Head({ name }: { name: string }) {
  return <h3 className="select-none px-2 pt-3 pb-1 font-semibold text-dim text-tiny">{name}</h3>;
}

function entriesOf<Line>(lines: readonly Line[], timeOf: (line: Line) => number): Entry<Line>[] {
  return groupByDay(lines, timeOf, Date.now()).flatMap(({ label, lines }) => [
    { head: label },
    ...lines.map((line) => ({ line })),
  ]);
}

/** The index that a key moves to. -1 is before the list. */
function nextOf(key: string, at: number, length: number): number | undefined {
  if (key === "ArrowDown") return Math.min(at + 1, length - 1);
  if (key === "ArrowUp") return at - 1;
  if (key === "Home") return 0;
  return key === "End" ? length - 1 : undefined;
}
