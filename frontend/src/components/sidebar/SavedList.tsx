// The saved answers in the sidebar: open or delete them.
import { Trash2 } from "lucide-react";
import { useMemo } from "react";
import { findMatch } from "../../logic/chat/searchMatches.ts";
import { isolated } from "../../logic/wording/bidi.ts";
import { endingOf } from "../../logic/wording/statusAndAmounts.ts";
import { hashOf } from "../../state/address.ts";
import type { SavedRuns } from "../../state/lists/savedRuns.ts";
import { useStore } from "../../state/store.ts";
import type { SaveLine } from "../../types/api.ts";
import { MenuItem } from "../ui/Menu.tsx";
import { DeletableList } from "./DeletableList.tsx";
import { LineRow } from "./LineRow.tsx";

interface Props {
  saves: SavedRuns;
  /** The server searches conversations. Saved answers are filtered here by title. */
  search: string;
  here: string | undefined;
  onOpen: (id: string) => void;
  onClosed: (id: string) => void;
}

const timeOf = (line: SaveLine): number => line.created;

const DELETION = {
  title: "Delete this saved answer?",
  words: ({ title }: SaveLine): string =>
    `“${isolated(title)}” will be permanently deleted from the server. This does not affect its conversation.`,
};

export function SavedList({ saves, search, here, onOpen, onClosed }: Props) {
  const { lines: all, state, trouble } = useStore(saves);
  const wanted = search.trim();
  const lines = useMemo(
    () => (wanted ? all.filter((line) => findMatch(line.title, wanted).found) : all),
    [all, wanted],
  );
  return (
    <DeletableList
      list={saves}
      {...{ lines, timeOf, here, onClosed }}
      word={messageFor(state, trouble, wanted)}
      deletion={DELETION}
      row={(line, isStop, onDelete) => (
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
  );
}

/** "openai/sim · Stopped". A complete answer needs no label. */
const wordsUnder = ({ model, status }: SaveLine): string =>
  [model, endingOf({ status }).label].filter(Boolean).join(" · ");

function messageFor(state: "loading" | "ready" | "failed", trouble: string | undefined, search: string): string {
  if (state === "failed") return `Saved answers could not be loaded. ${trouble ?? ""}`;
  if (state === "loading") return "Loading saved answers…";
  if (search) return `No saved answers match “${isolated(search)}”.`;
  return "No saved answers yet. A saved answer stays even if you delete its conversation.";
}
