// A conversation in the sidebar: title, running state, cost, and search match.
import { FileDown, PencilLine, Trash2 } from "lucide-react";
import { memo } from "react";
import { findMatch } from "../../logic/chat/searchMatches.ts";
import { lineCost } from "../../logic/wording/statusAndAmounts.ts";
import { hashOf } from "../../state/address.ts";
import type { ConversationLine } from "../../types/api.ts";
import { Lamp } from "../ui/Lamp.tsx";
import { MenuItem, MenuLine } from "../ui/Menu.tsx";
import { LineRow } from "./LineRow.tsx";
import { TitleField } from "./TitleField.tsx";

interface Props {
  line: ConversationLine;
  search: string;
  isHere: boolean;
  isStop: boolean;
  isRenaming: boolean;
  onOpen: (id: string) => void;
  onRename: (id: string) => void;
  /** `title` is undefined if the title stays. */
  onTitle: (id: string, title: string | undefined, byKey: boolean) => void;
  onExport: (id: string, format: "markdown" | "json") => void;
  onDelete: (id: string) => void;
}

export const ConversationRow = memo(function ConversationRow(props: Props) {
  const { line, search, isHere, isStop, isRenaming, onOpen } = props;
  const { id, title, match } = line;
  return (
    <LineRow
      id={id}
      href={hashOf({ kind: "conversation", id })}
      title={title}
      isHere={isHere}
      isStop={isStop}
      onOpen={onOpen}
      shown={search && <Marked text={title} search={search} />}
      before={line.isRunning && <Lamp lamp="running" spoken />}
      beside={<Cost line={line} />}
      under={
        match &&
        match !== title && (
          <span dir="auto" className="line-clamp-2 text-dim text-tiny" data-part="match">
            <Marked text={match} search={search} />
          </span>
        )
      }
      menu={<RowMenu {...props} />}
      field={
        isRenaming && <TitleField title={title} onDone={(newTitle, byKey) => props.onTitle(id, newTitle, byKey)} />
      }
    />
  );
});

/** The cost shows on hover or focus: a column of amounts would dominate the list. */
function Cost({ line }: { line: ConversationLine }) {
  const words = lineCost(line);
  if (!words) return null;
  return (
    <span className="hidden text-dim text-tiny tabular-nums group-focus-within:inline group-hover:inline pointer-coarse:inline">
      {words}
    </span>
  );
}

/** Highlights the match. */
function Marked({ text, search }: { text: string; search: string }) {
  const { before, found, after } = findMatch(text, search);
  return (
    <>
      {before}
      {found && <mark className="rounded-sm bg-amber-wash text-ink">{found}</mark>}
      {after}
    </>
  );
}

function RowMenu({ line: { id }, onRename, onExport, onDelete }: Props) {
  return (
    <>
      <MenuItem onSelect={() => onRename(id)}>
        <PencilLine aria-hidden="true" />
        Rename
      </MenuItem>
      <MenuItem onSelect={() => onExport(id, "markdown")}>
        <FileDown aria-hidden="true" />
        Export as Markdown
      </MenuItem>
      <MenuItem onSelect={() => onExport(id, "json")}>
        <FileDown aria-hidden="true" />
        Export as JSON
      </MenuItem>
      <MenuLine />
      <MenuItem danger onSelect={() => onDelete(id)}>
        <Trash2 aria-hidden="true" />
        Delete
      </MenuItem>
    </>
  );
}
