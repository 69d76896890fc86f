// The preview of a page in its frame, or an image.
import { useEffect, useState } from "react";
import { kindOf } from "../../logic/files/shownFiles.ts";
import type { ShownFile } from "../../types/files.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ConsoleLines } from "./ConsoleLines.tsx";
import type { Stage } from "./stage.ts";

interface Props {
  files: readonly ShownFile[];
  /** The previewed file. Undefined if none can be previewed. */
  entry: string | undefined;
  stage: Stage;
}

export function PreviewTab({ files, entry, stage }: Props) {
  const kind = entry === undefined ? undefined : kindOf(entry);
  const isPage = kind === "page";
  const isWriting = files.some(({ isGrowing }) => isGrowing);
  return (
    <>
      {isPage && stage.isHung && (
        <div role="alert" className="flex items-center gap-3 border-edge border-b bg-amber-wash px-4 py-2 text-small">
          <span className="flex-1">The preview does not respond. A script may run without end.</span>
          <Button look="outline" onClick={stage.reload}>
            Reload
          </Button>
        </div>
      )}
      <div className="relative flex min-h-0 flex-1 flex-col" hidden={!isPage}>
        <div ref={stage.ref} data-part="preview-stage" className="min-h-0 flex-1" />
        {isWriting && stage.isEmpty && (
          <p
            role="status"
            className="absolute inset-x-0 top-1/3 mx-auto w-fit rounded-md bg-raised px-3 py-1.5 text-dim text-small"
          >
            The page appears as soon as its first visible part is written.
          </p>
        )}
      </div>
      {isPage && <ConsoleLines lines={stage.lines} />}
      {kind === "image" && <ImageView file={files.find(({ path }) => path === entry)} />}
      {kind === undefined && (
        <p className="p-4 text-dim text-small">Pages and images have a preview. Code shows the text of this file.</p>
      )}
      {stage.link !== undefined && <LinkDialog url={stage.link} onClose={stage.dropLink} />}
    </>
  );
}

/** The page's policy allows images only as data. Scripts of an SVG image do not run. */
function ImageView({ file }: { file: ShownFile | undefined }) {
  const [url, setUrl] = useState<string>();
  const content = file?.content;
  useEffect(() => {
    if (content === undefined) return;
    const reader = new FileReader();
    reader.onload = () => setUrl(String(reader.result));
    reader.readAsDataURL(typeof content === "string" ? new Blob([content], { type: "image/svg+xml" }) : content);
    return () => reader.abort();
  }, [content]);
  return (
    <div className="flex min-h-0 flex-1 items-center justify-center overflow-auto bg-sunken p-4">
      {url && <img src={url} alt={file?.path ?? ""} className="max-h-full max-w-full" />}
    </div>
  );
}

function LinkDialog({ url, onClose }: { url: string; onClose: () => void }) {
  const open = () => {
    window.open(url, "_blank", "noopener,noreferrer");
    onClose();
  };
  const isKnown = /^(https?|mailto):/i.test(url);
  return (
    <Dialog
      open
      onClose={onClose}
      title="Open this link?"
      description="The page in the preview links to another website."
    >
      <div className="flex flex-col gap-3 p-4 pt-1">
        <code className="wrap-anywhere max-h-40 overflow-y-auto rounded-sm bg-sunken px-2 py-1 font-mono text-small">
          {url}
        </code>
        <div className="flex justify-end gap-2">
          <Button size="medium" onClick={onClose}>
            Cancel
          </Button>
          <Button look="primary" size="medium" disabled={!isKnown} onClick={open}>
            Open in a new tab
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
