// The files of a conversation in a separate window.
import { useEffect } from "react";
import type { Chat } from "../../state/chat/chat.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import { FilesView } from "./FilesView.tsx";

export default function FilesScreen({ box, chat }: { box: Signalbox; chat: Chat }) {
  const { title, status } = useStore(chat);
  useEffect(() => {
    document.title = `${title || "Files"} · Signalbox`;
  }, [title]);
  return (
    <main aria-label="Files" data-part="files" className="flex min-h-0 flex-1 flex-col">
      <h1 className="sr-only">Files{title && ` of ${title}`}</h1>
      {status === "failed" ? (
        <p role="alert" className="p-4 text-small">
          The conversation could not be loaded. Check its address, then reload this page.
        </p>
      ) : (
        <FilesView box={box} chat={chat} onClose={undefined} />
      )}
    </main>
  );
}
