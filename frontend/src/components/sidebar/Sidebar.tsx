// The sidebar: new chat, search, conversations, saved answers, and links to the other pages.
import { Tabs } from "@base-ui/react/tabs";
import { SquarePen } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { isMac } from "../../hooks/shortcuts.ts";
import { serverPath } from "../../logic/baseUrl.ts";
import { shortcutText } from "../../logic/chat/shortcuts.ts";
import type { Address } from "../../state/address.ts";
import type { Conversations } from "../../state/lists/conversations.ts";
import type { SavedRuns } from "../../state/lists/savedRuns.ts";
import { useStore } from "../../state/store.ts";
import { Brand } from "../ui/Brand.tsx";
import { Button } from "../ui/Button.tsx";
import { Tip } from "../ui/Tip.tsx";
import { ConversationList } from "./ConversationList.tsx";
import { SavedList } from "./SavedList.tsx";
import { SearchField } from "./SearchField.tsx";

export interface SidebarProps {
  conversations: Conversations;
  saves: SavedRuns;
  /** What the page shows now. */
  here: Address;
  onOpen: (id: string) => void;
  onOpenSave: (id: string) => void;
  onNew: () => void;
  /** The open conversation or saved answer was deleted. */
  onClosed: (id: string) => void;
  /** Shown at the end of the footer. */
  foot?: ReactNode;
}

/** Fills its parent, which sets the width. */
export function Sidebar({ conversations, saves, here, onOpen, onOpenSave, onNew, onClosed, foot }: SidebarProps) {
  const { search } = useStore(conversations);
  const [tab, setTab] = useState<"chats" | "saved">(here.kind === "save" ? "saved" : "chats");
  useEffect(() => {
    conversations.loadOnce();
    saves.loadOnce();
  }, [conversations, saves]);
  return (
    <nav
      className="flex h-full min-h-0 w-full min-w-0 flex-col text-small"
      aria-label="Conversations"
      data-part="sidebar"
    >
      <div className="flex flex-col gap-2 p-3 pb-2">
        <p className="flex h-7 items-center gap-2 px-1 font-semibold" data-part="product">
          <Brand />
          Signalbox
        </p>
        <Tip label={`New chat, ${shortcutText("new", isMac())}`}>
          <Button look="outline" size="medium" className="w-full" onClick={onNew}>
            <SquarePen aria-hidden="true" />
            New chat
          </Button>
        </Tip>
        <SearchField search={search} onSearch={(text) => conversations.find(text)} />
      </div>
      <Tabs.Root className="flex min-h-0 flex-1 flex-col" value={tab} onValueChange={setTab}>
        <Tabs.List className="flex gap-1 border-edge border-b px-3" aria-label="Sidebar lists">
          <Tab value="chats">Chats</Tab>
          <Tab value="saved">Saved</Tab>
        </Tabs.List>
        <Tabs.Panel className={PANEL} value="chats" tabIndex={-1}>
          <ConversationList
            conversations={conversations}
            here={here.kind === "conversation" ? here.id : undefined}
            onOpen={onOpen}
            onClosed={onClosed}
          />
        </Tabs.Panel>
        <Tabs.Panel className={PANEL} value="saved" tabIndex={-1}>
          <SavedList
            saves={saves}
            search={search}
            here={here.kind === "save" ? here.id : undefined}
            onOpen={onOpenSave}
            onClosed={onClosed}
          />
        </Tabs.Panel>
      </Tabs.Root>
      <div className="flex items-center gap-3 border-edge border-t px-3 py-2 text-dim" data-part="sidebar-foot">
        <FootLink href={serverPath("/guide/")}>Guide</FootLink>
        <FootLink href={serverPath("/docs")}>API</FootLink>
        <FootLink href={serverPath("/operator")}>Operator</FootLink>
        {foot && <span className="ms-auto flex items-center gap-1">{foot}</span>}
      </div>
    </nav>
  );
}

const PANEL = "flex min-h-0 flex-1 flex-col outline-none";

function Tab({ value, children }: { value: "chats" | "saved"; children: ReactNode }) {
  return (
    <Tabs.Tab
      value={value}
      className="-mb-px h-8 cursor-pointer select-none border-transparent border-b-2 px-1.5 text-dim hover:text-ink data-active:border-accent data-active:text-ink"
    >
      {children}
    </Tabs.Tab>
  );
}

function FootLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a className="rounded-sm text-dim no-underline hover:text-ink hover:underline" href={href}>
      {children}
    </a>
  );
}
