// What the chat page shows of files: it watches the answers, and opens the panel. It is loaded with the first message.
import { lazy, type ReactNode, Suspense, useEffect } from "react";
import { useFilesPanel } from "../../hooks/filesPanel.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { warnBeforeLeaving } from "../../state/files/fileDrafts.ts";
import { retried } from "../../state/retriedLoad.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { FilesButton } from "./FilesButton.tsx";

const FilesPanel = lazy(() => retried(() => import("./FilesPanel.tsx")));
const FilesScreen = lazy(() => retried(() => import("./FilesScreen.tsx")));

export interface FilesState {
  isOpen: boolean;
  /** For the header. */
  button: ReactNode;
}

interface Props {
  box: Signalbox;
  chat: Chat;
  /** In a separate window, without the chat. */
  isAlone?: true;
  /** Something else is shown beside the chat. */
  isHidden?: boolean;
  /** Called with undefined when the chat is left. */
  onChange?: (state: FilesState | undefined) => void;
}

export default function FilesPart({ box, chat, isAlone, isHidden, onChange }: Props) {
  const { hasFiles, isOpen, setOpen } = useFilesPanel(box.settings, chat);
  useEffect(() => {
    onChange?.({ isOpen, button: hasFiles && <FilesButton isOpen={isOpen} onOpen={setOpen} /> });
  }, [hasFiles, isOpen, setOpen, onChange]);
  useEffect(() => () => onChange?.(undefined), [onChange]);
  useEffect(() => warnBeforeLeaving((id) => box.chats.deleted.has(id)), [box]);
  if (!isAlone && (!isOpen || isHidden)) return null;
  return isAlone ? (
    <FilesScreen box={box} chat={chat} />
  ) : (
    <Suspense>
      <FilesPanel box={box} chat={chat} onClose={() => setOpen(false)} />
    </Suspense>
  );
}
