// A thumbnail of the page that a variant has written. Nothing is shown for a variant without a page.
import { useCallback, useEffect, useState } from "react";
import { useBranchFiles } from "../../hooks/shownFiles.ts";
import { firstFile, kindOf } from "../../logic/files/shownFiles.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { type AnswerPart, idOf } from "../../state/chat/chatParts.ts";
import { ThumbnailFrame } from "../../state/files/thumbnailFrame.ts";
import type { ShownFile } from "../../types/files.ts";
import "./thumbnail.css";

interface Props {
  chat: Chat;
  part: AnswerPart;
}

export function Thumbnail({ chat, part }: Props) {
  const question = chat.state.parts.get(part.parent ?? "");
  const nodeId = idOf(part) ?? (question && idOf(question));
  const { files } = useBranchFiles(chat.client, chat, part.answer, nodeId);
  const entry = firstFile(files);
  return entry !== undefined && kindOf(entry) === "page" ? <Frame files={files} entry={entry} /> : null;
}

function Frame({ files, entry }: { files: readonly ShownFile[]; entry: string }) {
  const [frame, setFrame] = useState<ThumbnailFrame>();
  const ref = useCallback((box: HTMLElement | null) => {
    if (!box) return;
    const made = new ThumbnailFrame(box);
    const sight = new IntersectionObserver(([seen]) => made.setVisible(seen?.isIntersecting === true));
    sight.observe(box);
    setFrame(made);
    return () => {
      sight.disconnect();
      made.end();
    };
  }, []);
  useEffect(() => {
    const loaded = files.flatMap(({ path, content }) => (content === undefined ? [] : [[path, content] as const]));
    frame?.show({ files: new Map(loaded), entry });
  }, [frame, files, entry]);
  return <span ref={ref} aria-hidden="true" className="rounded-sm border border-edge" data-part="thumbnail" />;
}
