// The conversations of the sidebar, with search, new titles, export and deletion.
import { lazy, Suspense, useCallback, useRef, useState } from "react";
import type { Conversations } from "../../hooks/conversations.ts";
import { useOffline } from "../../hooks/online.ts";
import { useStore } from "../../hooks/store.ts";
import { isolated } from "../../run/bidi.ts";
import { plural } from "../../run/words.ts";
import type { ConversationLine } from "../../types/api.ts";
import { ConversationRow } from "./ConversationRow.tsx";
import { LineList } from "./lines.ts";
import { neighbourOf } from "./neighbour.ts";
import { Trouble, Word } from "./Word.tsx";

const DeleteDialog = lazy(() => import("./DeleteDialog.tsx").then((room) => ({ default: room.DeleteDialog })));

interface Props {
  conversations: Conversations;
  here: string | undefined;
  onOpen: (id: string) => void;
  onClosed: (id: string) => void;
}

const timeOf = (line: ConversationLine): number => line.updated;

export function ConversationList({ conversations, here, onOpen, onClosed }: Props) {
  const { lines, state, trouble, hasMore, search } = useStore(conversations);
  const offline = useOffline();
  const [renaming, setRenaming] = useState<string>();
  const [deleting, setDeleting] = useState<ConversationLine>();
  const focus = useRef<(id: string) => void>(null);

  const onDelete = useCallback(
    (id: string) => setDeleting(conversations.state.lines.find((line) => line.id === id)),
    [conversations],
  );
  const onTitle = useCallback(
    (id: string, title: string | undefined, byKey: boolean) => {
      setRenaming(undefined);
      if (title !== undefined) void conversations.rename(id, title);
      if (byKey) requestAnimationFrame(() => focus.current?.(id));
    },
    [conversations],
  );
  const onExport = useCallback(
    (id: string, format: "markdown" | "json") => void conversations.export(id, format),
    [conversations],
  );
  const onMore = useCallback(() => void conversations.more(), [conversations]);
  const deleteNow = async ({ id }: ConversationLine) => {
    const next = neighbourOf(lines, id);
    setDeleting(undefined);
    const removed = conversations.remove(id);
    if (next !== undefined) requestAnimationFrame(() => focus.current?.(next));
    if ((await removed) && id === here) onClosed(id);
  };

  const onRetry = state === "failed" ? () => void conversations.load() : undefined;
  return (
    <>
      {lines.length > 0 && trouble && (
        <Trouble onRetry={onRetry} onDismiss={() => conversations.dismiss()}>
          {trouble}
        </Trouble>
      )}
      {lines.length > 0 ? (
        <Suspense>
          <LineList
            lines={lines}
            timeOf={timeOf}
            here={here}
            hasMore={hasMore}
            asksItself={trouble === undefined}
            onMore={onMore}
            onDelete={onDelete}
            onRename={setRenaming}
            focusRef={focus}
            row={(line, isStop) => (
              <ConversationRow
                key={line.id}
                line={line}
                search={search}
                isHere={line.id === here}
                isStop={isStop}
                isRenaming={line.id === renaming}
                onOpen={onOpen}
                onRename={setRenaming}
                onTitle={onTitle}
                onExport={onExport}
                onDelete={onDelete}
              />
            )}
          />
        </Suspense>
      ) : (
        <Word onRetry={onRetry}>
          {offline && state === "failed" ? OFFLINE : wordFor(state, trouble, search.trim())}
        </Word>
      )}
      {search.trim() && state === "ready" && lines.length > 0 && (
        <p className="sr-only" role="status">
          {hasMore ? "Many conversations found." : `${plural(lines.length, "conversation")} found.`}
        </p>
      )}
      {deleting && (
        <Suspense>
          <DeleteDialog
            title="Delete this conversation?"
            onDelete={() => void deleteNow(deleting)}
            onClose={() => setDeleting(undefined)}
          >
            {wordsOfDeletion(deleting)}
          </DeleteDialog>
        </Suspense>
      )}
    </>
  );
}

const OFFLINE = "Your conversations will be here when you're back online.";

function wordFor(state: "loading" | "ready" | "failed", trouble: string | undefined, search: string): string {
  if (state === "failed") return `Conversations could not be loaded. ${trouble ?? ""}`;
  if (state === "loading") return search ? "Searching…" : "Loading conversations…";
  return search ? `No results for “${isolated(search)}”.` : "No conversations yet. Your chats appear here.";
}

function wordsOfDeletion({ title, isRunning }: ConversationLine): string {
  const stopped = isRunning ? " The running answer will be stopped." : "";
  return `“${isolated(title)}” and its answers will be permanently deleted from the server.${stopped} Answers that you saved stay under Saved.`;
}
