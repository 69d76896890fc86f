// The conversations in the sidebar, with search, rename, export and delete.
import { useCallback, useRef, useState } from "react";
import { useOffline } from "../../hooks/online.ts";
import { isolated } from "../../logic/wording/bidi.ts";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import type { Conversations } from "../../state/lists/conversations.ts";
import { useStore } from "../../state/store.ts";
import type { ConversationLine } from "../../types/api.ts";
import { ConversationRow } from "./ConversationRow.tsx";
import { DeletableList } from "./DeletableList.tsx";

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
  const focus = useRef<(id: string) => void>(null);

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
  return (
    <>
      <DeletableList
        list={conversations}
        {...{ lines, timeOf, here, onClosed }}
        word={offline && state === "failed" ? OFFLINE : messageFor(state, trouble, search.trim())}
        deletion={DELETION}
        onRename={setRenaming}
        focusRef={focus}
        row={(line, isStop, onDelete) => (
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
      {search.trim() && state === "ready" && lines.length > 0 && (
        <p className="sr-only" role="status">
          {hasMore ? "Many conversations found." : `${plural(lines.length, "conversation")} found.`}
        </p>
      )}
    </>
  );
}

const DELETION = { title: "Delete this conversation?", words: wordsOfDeletion };

const OFFLINE = "Your conversations will be here when you're back online.";

function messageFor(state: "loading" | "ready" | "failed", trouble: string | undefined, search: string): string {
  if (state === "failed") return `Conversations could not be loaded. ${trouble ?? ""}`;
  if (state === "loading") return search ? "Searching…" : "Loading conversations…";
  return search ? `No results for “${isolated(search)}”.` : "No conversations yet. Your chats appear here.";
}

function wordsOfDeletion({ title, isRunning }: ConversationLine): string {
  const stopped = isRunning ? " The running answer will be stopped." : "";
  return `“${isolated(title)}” and its answers will be permanently deleted from the server.${stopped} Answers that you saved stay under Saved.`;
}
