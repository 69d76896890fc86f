// The text of a file, highlighted, and a field to edit it.
import { Pencil } from "lucide-react";
import { type RefObject, useLayoutEffect, useRef } from "react";
import { endingOf } from "../../logic/files/shownFiles.ts";
import { piecesOf } from "../../logic/files/textPieces.ts";
import type { BranchFiles } from "../../state/files/branchFiles.ts";
import { fileDrafts } from "../../state/files/fileDrafts.ts";
import { useStore } from "../../state/store.ts";
import type { ShownFile } from "../../types/files.ts";
import { CodeBlock } from "../markdown/code/CodeBlock.tsx";
import { Button } from "../ui/Button.tsx";
import { FileEditor, nodeOf } from "./FileEditor.tsx";

export function CodeTab({ branch, file }: { branch: BranchFiles; file: ShownFile }) {
  useStore(fileDrafts);
  const box = useRef<HTMLDivElement>(null);
  const { path, content, version, isGrowing } = file;
  const { conversationId } = branch.place;
  const draft = fileDrafts.of(conversationId, path);
  useFollow(box, content, isGrowing);
  if (draft) return <FileEditor branch={branch} path={path} draft={draft} />;
  if (typeof content !== "string")
    return (
      <p className="p-4 text-dim text-small">
        {content === undefined ? "Loading…" : "An image has no text. Preview shows it."}
      </p>
    );
  return (
    <div ref={box} data-part="file-code" className="min-h-0 flex-1 overflow-auto">
      <div className="sticky top-0 z-10 flex justify-end px-3 pt-2">
        <Button
          look="outline"
          disabled={isGrowing || version === 0}
          onClick={() =>
            fileDrafts.begin(conversationId, path, { text: content, version, nodeId: nodeOf(branch, path) })
          }
        >
          <Pencil aria-hidden="true" />
          Edit
        </Button>
      </div>
      <CodeBlock pieces={piecesOf(content)} language={endingOf(path)} open={isGrowing} />
    </div>
  );
}

/** While the file grows, stay at its end, unless the reader has scrolled up. */
function useFollow(box: RefObject<HTMLDivElement | null>, content: ShownFile["content"], isGrowing: boolean): void {
  const height = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the content.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const wasAtEnd = element.scrollTop + element.clientHeight >= height.current - 40;
    if (isGrowing && wasAtEnd) element.scrollTop = element.scrollHeight;
    height.current = element.scrollHeight;
  }, [box, content, isGrowing]);
}
