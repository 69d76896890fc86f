// A plain field to edit a file. Saving fails if the file has changed meanwhile, and the reader decides.
import { type KeyboardEvent, useState } from "react";
import type { BranchFiles } from "../../state/files/branchFiles.ts";
import { type FileDraft, fileDrafts } from "../../state/files/fileDrafts.ts";
import { fileTrouble, writeFile } from "../../state/files/fileRequests.ts";
import { Button } from "../ui/Button.tsx";

interface Props {
  branch: BranchFiles;
  path: string;
  draft: FileDraft;
}

type Trouble = { isConflict: boolean; words: string };

export function FileEditor({ branch, path, draft: { base: edited, text } }: Props) {
  const { conversationId } = branch.place;
  const [trouble, setTrouble] = useState<Trouble>();
  const [isSaving, setSaving] = useState(false);
  const save = async (base: number | undefined) => {
    if (isSaving) return;
    if (base !== undefined && nodeOf(branch, path) !== edited.nodeId) return setTrouble(OTHER_FILE);
    setSaving(true);
    setTrouble(undefined);
    try {
      await writeFile(branch.client, branch.place, path, text, base);
      await branch.load();
      const saved = branch.state.files.find((file) => file.path === path);
      fileDrafts.saved(conversationId, path, {
        text,
        version: saved?.version ?? edited.version,
        nodeId: saved?.nodeId ?? edited.nodeId,
      });
      setSaving(false);
    } catch (error) {
      setTrouble(troubleOf(error));
      setSaving(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") event.stopPropagation();
    if (event.key !== "s" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    void save(edited.version);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2 p-3">
      <textarea
        aria-label={`Text of ${path}`}
        value={text}
        onChange={({ target }) => fileDrafts.change(conversationId, path, target.value)}
        onKeyDown={onKeyDown}
        spellCheck={false}
        dir="ltr"
        className="min-h-0 flex-1 resize-none rounded-sm border border-edge bg-ground p-2 font-mono text-small"
      />
      {trouble && (
        <p role="alert" className="rounded-md border border-red-edge bg-red-wash px-3 py-2 text-red-ink text-small">
          {trouble.words}
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button size="medium" onClick={() => fileDrafts.drop(conversationId, path)}>
          Cancel
        </Button>
        {trouble?.isConflict && (
          <Button size="medium" look="outline" disabled={isSaving} onClick={() => void save(undefined)}>
            Save anyway
          </Button>
        )}
        <Button size="medium" look="primary" disabled={isSaving} onClick={() => void save(edited.version)}>
          Save
        </Button>
      </div>
    </div>
  );
}

const OTHER_FILE: Trouble = {
  isConflict: true,
  words:
    "The panel shows another version now than the one that you edit. Save anyway replaces the shown version, which stays in Changes.",
};

/** The node that wrote the shown version of a file. */
export const nodeOf = (branch: BranchFiles, path: string): string | undefined =>
  branch.state.files.find((file) => file.path === path)?.nodeId;

function troubleOf(error: unknown): Trouble {
  const { code } = error as { code?: string };
  const isConflict = code === "FILE_CHANGED";
  return {
    isConflict,
    words: isConflict
      ? "The file has changed since you began to edit it. Save anyway replaces the newer version, which stays in Changes."
      : fileTrouble("The file was not saved.", error),
  };
}
