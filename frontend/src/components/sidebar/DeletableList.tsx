// A list of the sidebar with its error, its empty state, and the deletion of lines. Conversations and saved answers use
// it.
import { lazy, type ReactElement, type RefObject, Suspense, useCallback, useRef, useState } from "react";
import type { PagedList, PagedListState } from "../../state/lists/pagedList.ts";
import { retried } from "../../state/retriedLoad.ts";
import { useStore } from "../../state/store.ts";
import { ListAlert, ListMessage } from "./ListMessage.tsx";
import { LineList } from "./lazyLineList.ts";
import { nextFocusedLine } from "./nextFocusedLine.ts";

const DeleteDialog = lazy(() =>
  retried(() => import("./DeleteDialog.tsx").then((room) => ({ default: room.DeleteDialog }))),
);

interface Props<Line extends { id: string }> {
  list: PagedList<Line, PagedListState<Line>>;
  /** The lines that are shown, if filtered. */
  lines: readonly Line[];
  timeOf: (line: Line) => number;
  here: string | undefined;
  /** Shown if there are no lines. */
  word: string;
  /** The title and the text of the confirmation. */
  deletion: { title: string; words: (line: Line) => string };
  /** The open conversation or saved answer was deleted. */
  onClosed: (id: string) => void;
  onRename?: (id: string) => void;
  /** Set to a function that focuses a line. */
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
    const next = nextFocusedLine(lines, id);
    setDeleting(undefined);
    const removed = list.remove(id);
    if (next !== undefined) requestAnimationFrame(() => focus.current?.(next));
    if ((await removed) && id === here) onClosed(id);
  };

  const onRetry = state === "failed" ? () => void list.load() : undefined;
  return (
    <>
      {all.length > 0 && trouble && (
        <ListAlert onRetry={onRetry} onDismiss={() => list.dismiss()}>
          {trouble}
        </ListAlert>
      )}
      {/* A filter's matches may be among the lines that the server has not sent yet. */}
      {lines.length > 0 || (all.length > 0 && hasMore) ? (
        <Suspense>
          <LineList
            {...{ lines, timeOf, here, hasMore, onMore, onDelete }}
            {...(onRename && { onRename })}
            loadsAutomatically={trouble === undefined}
            focusRef={focus}
            row={(line, isStop) => row(line, isStop, onDelete)}
          />
        </Suspense>
      ) : (
        <ListMessage onRetry={onRetry}>{word}</ListMessage>
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
