// The files of a conversation: preview, code, and changes of the selected one.
import { Tabs } from "@base-ui/react/tabs";
import { useEffect, useState } from "react";
import "./files.css";
import { useWorkspace } from "../../hooks/shownFiles.ts";
import { firstFile, previewedFile } from "../../logic/files/shownFiles.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { viewedAnswersOf } from "../../state/chat/viewedAnswers.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import { ChangesTab } from "./ChangesTab.tsx";
import { CodeTab } from "./CodeTab.tsx";
import { FilesHead } from "./FilesHead.tsx";
import { PreviewTab } from "./PreviewTab.tsx";
import { useStage } from "./stage.ts";

interface Props {
  box: Signalbox;
  chat: Chat;
  /** Undefined in a separate window. */
  onClose: (() => void) | undefined;
}

const TABS = ["Preview", "Code", "Changes"] as const;
type Tab = (typeof TABS)[number];
const TAB =
  "h-8 cursor-pointer border-transparent border-b-2 px-2 text-dim text-small -outline-offset-2 hover:text-ink data-active:border-accent data-active:text-ink";
const PANEL = "flex min-h-0 flex-1 flex-col outline-none data-hidden:hidden";

export function FilesView({ box, chat, onClose }: Props) {
  const workspace = useWorkspace(box.session.client, chat);
  const { branch, stored, files } = workspace;
  const [selected, select] = useState<string>();
  const [chosen, choose] = useState<Tab>();
  const [page, setPage] = useState<string>();
  const isHere = (path: string | undefined) => files.some((file) => file.path === path);
  const path = isHere(selected) ? selected : firstFile(files);
  const file = files.find((one) => one.path === path);
  const entry = previewedFile(files, isHere(page) ? page : path);
  const tab = chosen ?? (entry === undefined ? "Code" : "Preview");
  const stage = useStage(files, entry, (opened) => {
    select(opened);
    setPage(opened);
  });
  const onSelect = (next: string) => {
    select(next);
    setPage(undefined);
  };
  const { opened } = useStore(viewedAnswersOf(chat));
  useEffect(() => {
    if (!opened) return;
    select(opened.path);
    setPage(undefined);
  }, [opened]);
  return (
    <>
      <FilesHead {...{ chat, branch, files, path, stage, onSelect, onClose }} />
      {!file ? (
        <p role="status" className="p-4 text-dim text-small">
          {stored.trouble ?? (stored.isLoaded ? "This conversation has no files." : "Loading files…")}
        </p>
      ) : (
        <Tabs.Root value={tab} onValueChange={choose} className="flex min-h-0 flex-1 flex-col">
          <Tabs.List className="flex shrink-0 gap-1 border-edge border-b px-2" aria-label="Views of the file">
            {TABS.map((name) => (
              <Tabs.Tab key={name} value={name} className={TAB}>
                {name}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {/* Kept mounted: a page that runs keeps its state while its code is read. */}
          <Tabs.Panel value="Preview" keepMounted className={PANEL}>
            <PreviewTab files={files} entry={entry} stage={stage} />
          </Tabs.Panel>
          <Tabs.Panel value="Code" className={PANEL}>
            <CodeTab key={file.path} branch={branch} file={file} />
          </Tabs.Panel>
          <Tabs.Panel value="Changes" className={PANEL}>
            <ChangesTab key={file.path} branch={branch} path={file.path} version={file.version} />
          </Tabs.Panel>
        </Tabs.Root>
      )}
    </>
  );
}
