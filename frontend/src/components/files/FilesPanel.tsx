// The panel with the files of the conversation: beside the chat in a wide window, otherwise a sheet over it.
import { type ReactNode, useRef } from "react";
import { useMediaQuery, WIDE } from "../../hooks/mediaQuery.ts";
import type { Chat } from "../../state/chat/chat.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { closingOnEscape } from "../ui/escapeKey.ts";
import { FilesView } from "./FilesView.tsx";

interface Props {
  box: Signalbox;
  chat: Chat;
  onClose: () => void;
}

export default function FilesPanel({ box, chat, onClose }: Props) {
  const isWide = useMediaQuery(WIDE);
  const view = <FilesView key={chat.id} box={box} chat={chat} onClose={onClose} />;
  if (isWide) return <Beside onClose={onClose}>{view}</Beside>;
  return (
    <Dialog open onClose={onClose} title="Files" titleHidden place="right">
      <div data-part="files" className="flex min-h-0 flex-1 flex-col">
        {view}
      </div>
    </Dialog>
  );
}

/** It opens automatically while the user may be typing, so it does not take the focus. */
function Beside({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const box = useRef<HTMLElement>(null);
  return (
    <aside
      ref={box}
      tabIndex={-1}
      aria-label="Files"
      data-part="files"
      onKeyDown={closingOnEscape(onClose)}
      className="flex h-full min-h-0 w-files shrink-0 flex-col overflow-hidden border-edge border-s bg-ground outline-none"
    >
      {children}
    </aside>
  );
}
