// The head of the panel: the list of files, and what can be done with them.
import { Download, Ellipsis, ExternalLink, FolderDown, Printer, RotateCw, X } from "lucide-react";
import { hashOf } from "../../state/address.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { saveBlob } from "../../state/download.ts";
import type { BranchFiles } from "../../state/files/branchFiles.ts";
import { fileDrafts } from "../../state/files/fileDrafts.ts";
import { fetchArchive } from "../../state/files/fileRequests.ts";
import { useStore } from "../../state/store.ts";
import type { ShownFile } from "../../types/files.ts";
import { Button } from "../ui/Button.tsx";
import { Menu, MenuItem } from "../ui/Menu.tsx";
import { Tip } from "../ui/Tip.tsx";
import type { Stage } from "./stage.ts";

interface Props {
  chat: Chat;
  branch: BranchFiles;
  files: readonly ShownFile[];
  /** The selected file. */
  path: string | undefined;
  stage: Stage;
  onSelect: (path: string) => void;
  onClose: (() => void) | undefined;
}

export function FilesHead({ chat, branch, files, path, stage, onSelect, onClose }: Props) {
  const file = files.find((one) => one.path === path);
  useStore(fileDrafts);
  return (
    <div className="flex min-h-12 shrink-0 items-center gap-1 border-edge border-b px-3">
      {file ? (
        <select
          aria-label="File"
          value={path}
          onChange={({ target }) => onSelect(target.value)}
          className="h-8 min-w-0 max-w-80 truncate rounded-sm border border-edge bg-ground px-1.5 font-mono text-small"
        >
          {files.map((one) => (
            <option key={one.path} value={one.path}>
              {one.path}
              {fileDrafts.isUnsaved(chat.id, one.path) && " · unsaved"}
            </option>
          ))}
        </select>
      ) : (
        <span className="text-small">Files</span>
      )}
      <span className="min-w-0 flex-1 truncate px-1 text-dim text-tiny" data-part="file-state">
        {file && stateOf(file)}
        {file && fileDrafts.isUnsaved(chat.id, file.path) && " · unsaved changes"}
      </span>
      <Tip label="Reload the preview">
        <Button size="icon" aria-label="Reload the preview" onClick={stage.reload}>
          <RotateCw aria-hidden="true" />
        </Button>
      </Tip>
      {onClose && (
        <Tip label="Open in a new window">
          <Button size="icon" aria-label="Open in a new window" onClick={() => openWindow(chat.id)}>
            <ExternalLink aria-hidden="true" />
          </Button>
        </Tip>
      )}
      <FileMenu branch={branch} file={file} stage={stage} />
      {onClose && (
        <Tip label="Close">
          <Button size="icon" aria-label="Close files" onClick={onClose}>
            <X aria-hidden="true" />
          </Button>
        </Tip>
      )}
    </div>
  );
}

const stateOf = ({ isGrowing, version }: ShownFile): string =>
  isGrowing ? "writing…" : version > 0 ? `version ${version}` : "";

const openWindow = (id: string) =>
  window.open(`${location.pathname}${hashOf({ kind: "files", id })}`, "_blank", "noopener");

function FileMenu({ branch, file, stage }: Pick<Props, "branch" | "stage"> & { file: ShownFile | undefined }) {
  const download = () => {
    if (file?.content !== undefined) saveBlob(file.path.split("/").at(-1) ?? "", new Blob([file.content]));
  };
  const downloadAll = async () => saveBlob("files.zip", await fetchArchive(branch.client, branch.place));
  return (
    <Menu
      trigger={
        <Button size="icon" aria-label="More">
          <Ellipsis aria-hidden="true" />
        </Button>
      }
    >
      <MenuItem onSelect={stage.print}>
        <Printer aria-hidden="true" />
        Print the preview
      </MenuItem>
      <MenuItem onSelect={download} disabled={file?.content === undefined}>
        <Download aria-hidden="true" />
        Download this file
      </MenuItem>
      <MenuItem onSelect={() => void downloadAll()}>
        <FolderDown aria-hidden="true" />
        Download all files
      </MenuItem>
    </Menu>
  );
}
