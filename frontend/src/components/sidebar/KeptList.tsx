// The kept runs of the sidebar: open one as it was, or delete it.
import { Trash2 } from "lucide-react";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { hashOf } from "../../hooks/address.ts";
import type { Saves } from "../../hooks/saves.ts";
import { useStore } from "../../hooks/store.ts";
import { isolated } from "../../run/bidi.ts";
import { findLetters } from "../../run/found.ts";
import { endingOf } from "../../run/words.ts";
import type { SaveLine } from "../../types/api.ts";
import { MenuItem } from "../ui/Menu.tsx";
import { LineRow } from "./LineRow.tsx";
import { LineList } from "./lines.ts";
import { neighbourOf } from "./neighbour.ts";
import { Trouble, Word } from "./Word.tsx";

const DeleteDialog = lazy(() => import("./DeleteDialog.tsx").then((room) => ({ default: room.DeleteDialog })));

interface Props {
  saves: Saves;
  /** The server searches conversations; of what is kept, the titles here are looked through. */
  search: string;
  here: string | undefined;
  onOpen: (id: string) => void;
  onClosed: (id: string) => void;
}

const timeOf = (line: SaveLine): number => line.created;

export function KeptList({ saves, search, here, onOpen, onClosed }: Props) {
  const { lines: all, state, trouble, hasMore } = useStore(saves);
  const [deleting, setDeleting] = useState<SaveLine>();
  const focus = useRef<(id: string) => void>(null);
  const wanted = search.trim();
  const lines = useMemo(
    () => (wanted ? all.filter((line) => findLetters(line.title, wanted).found) : all),
    [all, wanted],
  );
  const onDelete = useCallback((id: string) => setDeleting(saves.state.lines.find((line) => line.id === id)), [saves]);
  const onMore = useCallback(() => void saves.more(), [saves]);
  const deleteNow = async ({ id }: SaveLine) => {
    const next = neighbourOf(lines, id);
    setDeleting(undefined);
    const removed = saves.remove(id);
    if (next !== undefined) requestAnimationFrame(() => focus.current?.(next));
    if ((await removed) && id === here) onClosed(id);
  };

  const onRetry = state === "failed" ? () => void saves.load() : undefined;
  return (
    <>
      {all.length > 0 && trouble && (
        <Trouble onRetry={onRetry} onDismiss={() => saves.dismiss()}>
          {trouble}
        </Trouble>
      )}
      {lines.length > 0 || hasMore ? (
        <Suspense>
          <LineList
            lines={lines}
            timeOf={timeOf}
            here={here}
            hasMore={hasMore}
            asksItself={trouble === undefined}
            onMore={onMore}
            onDelete={onDelete}
            focusRef={focus}
            row={(line, isStop) => (
              <LineRow
                key={line.id}
                id={line.id}
                href={hashOf({ kind: "save", id: line.id })}
                title={line.title}
                isHere={line.id === here}
                isStop={isStop}
                onOpen={onOpen}
                under={<span className="block truncate text-dim text-tiny">{wordsUnder(line)}</span>}
                menu={
                  <MenuItem danger onSelect={() => onDelete(line.id)}>
                    <Trash2 aria-hidden="true" />
                    Delete
                  </MenuItem>
                }
              />
            )}
          />
        </Suspense>
      ) : (
        <Word onRetry={onRetry}>{wordFor(state, trouble, wanted)}</Word>
      )}
      {deleting && (
        <Suspense>
          <DeleteDialog
            title="Delete this saved answer?"
            onDelete={() => void deleteNow(deleting)}
            onClose={() => setDeleting(undefined)}
          >
            {`“${isolated(deleting.title)}” will be permanently deleted from the server. This does not affect its conversation.`}
          </DeleteDialog>
        </Suspense>
      )}
    </>
  );
}

/** "openai/sim · Stopped": an ending is named where it needs a word. */
const wordsUnder = ({ model, status }: SaveLine): string =>
  [model, endingOf({ status }).label].filter(Boolean).join(" · ");

function wordFor(state: "loading" | "ready" | "failed", trouble: string | undefined, search: string): string {
  if (state === "failed") return `Saved answers could not be loaded. ${trouble ?? ""}`;
  if (state === "loading") return "Loading saved answers…";
  if (search) return `No saved answers match “${isolated(search)}”.`;
  return "No saved answers yet. A saved answer stays even if you delete its conversation.";
}
