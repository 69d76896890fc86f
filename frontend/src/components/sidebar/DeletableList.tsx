// What the lists of the sidebar have in common: the lines, trouble above them, a word in their place, and deletion.
import { lazy, type ReactElement, type RefObject, Suspense, useCallback, useRef, useState } from "react";
import type { Listing, ListingState } from "../../state/lists/pagedList.ts";
import { retried } from "../../state/retriedLoad.ts";
import { useStore } from "../../state/store.ts";
import { Trouble, Word } from "./ListMessage.tsx";
import { LineList } from "./lazyLineList.ts";
import { neighbourOf } from "./nextFocusedLine.ts";

const DeleteDialog = lazy(() =>
  retried(() => import("./DeleteDialog.tsx").then((room) => ({ default: room.DeleteDialog }))),
);

interface Props<Line extends { id: string }> {
  list: Listing<Line, ListingState<Line>>;
  /** Those of its lines that are shown. */
  lines: readonly Line[];
  timeOf: (line: Line) => number;
  here: string | undefined;
  /** In place of the lines. */
  word: string;
  /** The question before a line is deleted, and what is lost with it. */
  deletion: { title: string; words: (line: Line) => string };
  /** The line that is here has been deleted. */
  onClosed: (id: string) => void;
  onRename?: (id: string) => void;
  /** Filled with what gives a line the focus. */
  focusRef?: RefObject<((id: string) => void) | null>;
  row: (line: Line, isStop: boolean, onDelete: (id: string) => void) => ReactElement;
}

export function DeletableList<Line extends { id: string }>(props: Props<Line>) {
  const { list, lines, timeOf, here, word, deletion, onClosed, onRename, row } = props;
  const { lines: all, state, trouble, hasMore } = useStore(list);
  const [deleting, setDeleting] = useState<Line>();
  const own = useRef<(id: string) => void>(null);
  const focus = props.focusRef ?? own;
  const onDelete = useCallback((id: string) => setDeleting(list.state.lines.find((line) => line.id === id)), [list]);
  const onMore = useCallback(() => void list.more(), [list]);
  const deleteNow = async ({ id }: Line) => {
    const next = neighbourOf(lines, id);
    setDeleting(undefined);
    const removed = list.remove(id);
    if (next !== undefined) requestAnimationFrame(() => focus.current?.(next));
    if ((await removed) && id === here) onClosed(id);
  };

  const onRetry = state === "failed" ? () => void list.load() : undefined;
  return (
    <>
      {all.length > 0 && trouble && (
        <Trouble onRetry={onRetry} onDismiss={() => list.dismiss()}>
          {trouble}
        </Trouble>
      )}
      {/* Lines that a search looks for may be among those that the server still has. */}
      {lines.length > 0 || (all.length > 0 && hasMore) ? (
        <Suspense>
          <LineList
            {...{ lines, timeOf, here, hasMore, onMore, onDelete }}
            {...(onRename && { onRename })}
            asksItself={trouble === undefined}
            focusRef={focus}
            row={(line, isStop) => row(line, isStop, onDelete)}
          />
        </Suspense>
      ) : (
        <Word onRetry={onRetry}>{word}</Word>
      )}
      {deleting && (
        <Suspense>
          <DeleteDialog
            title={deletion.title}
            onDelete={() => void deleteNow(deleting)}
            onClose={() => setDeleting(undefined)}
          >
            {deletion.words(deleting)}
          </DeleteDialog>
        </Suspense>
      )}
    </>
  );
}
