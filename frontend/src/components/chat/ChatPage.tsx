// The layout of the chat page: sidebar, chat, and the run inspector or the files.
import { type ComponentProps, lazy, type RefObject, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { NARROW, useMediaQuery, WIDE } from "../../hooks/mediaQuery.ts";
import { type Address, goTo, readAddress, useHash } from "../../state/address.ts";
import type { Answer } from "../../state/answer/answer.ts";
import { joinedAnswerOf, runOf, runsOf } from "../../state/answer/joinedAnswer.ts";
import { changeRequestSettings } from "../../state/changeRequestSettings.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { retried } from "../../state/retriedLoad.ts";
import type { Settings } from "../../state/settings.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import type { FilesState } from "../files/FilesPart.tsx";
import { Sidebar } from "../sidebar/Sidebar.tsx";
import { ToolsProvider } from "../ui/Tools.tsx";
import type { DialogName } from "./ChatDialogs.tsx";
import { type ChatHandle, ChatScreen } from "./ChatScreen.tsx";
import { useChatShortcuts } from "./chatShortcuts.ts";
import { Notice } from "./Notice.tsx";
import { SidebarSheet } from "./SidebarSheet.tsx";

const RunInspectorDrawer = lazy(() => retried(() => import("../inspector/RunInspectorDrawer.tsx")));
const RunScreen = lazy(() =>
  retried(() => import("./RunScreens.tsx").then((module) => ({ default: module.RunScreen }))),
);
const SaveScreen = lazy(() =>
  retried(() => import("./RunScreens.tsx").then((module) => ({ default: module.SavedAnswerScreen }))),
);
const ChatDialogs = lazy(() => retried(() => import("./ChatDialogs.tsx")));
const FilesPart = lazy(() => retried(() => import("../files/FilesPart.tsx")));

interface Props {
  box: Signalbox;
  /** Closed dialogs can be rendered. */
  dialogsReady: boolean;
}

export function ChatPage({ box, dialogsReady }: Props) {
  const address = readAddress(useHash());
  const chat = useChat(box, conversationOf(address));
  const { tools } = useStore(box.session);
  const isNarrow = useMediaQuery(NARROW);
  const isWide = useMediaQuery(WIDE);
  const sidebar = useSidebar(box.settings, isNarrow);
  const [files, setFiles] = useState<FilesState>();
  const [dialog, setDialog] = useState<DialogName>();
  const { inspected, setInspected, inspect } = useInspected();
  const [notice, setNotice] = useState("");
  const handle = useRef<ChatHandle>(null);

  const open = (there: Address) => {
    sidebar.closeSheet();
    goTo(there);
  };
  const startNew = () => {
    open({ kind: "new" });
    handle.current?.focus();
  };
  const clearNotice = useCallback(() => setNotice(""), []);
  useChatShortcuts({
    chat,
    isShown: address.kind !== "run" && address.kind !== "save",
    handle,
    sidebar,
    onNew: startNew,
    onInspect: (answer, title) => (inspected || !answer ? setInspected(undefined) : inspect(answer, title)),
    onNotice: setNotice,
    onShortcuts: () => setDialog({ kind: "shortcuts" }),
  });

  const list = <Conversations box={box} here={address} onNew={startNew} onOpen={open} />;
  return (
    <>
      <ToolsProvider tools={tools}>
        <div className="flex h-dvh overflow-hidden bg-ground text-ink">
          {sidebar.isColumn && <div className="w-sidebar shrink-0 border-edge border-e">{list}</div>}
          <Screen
            address={address}
            box={box}
            chat={chat}
            handle={handle}
            sidebarOpen={sidebar.isOpen}
            onSidebar={sidebar.toggle}
            onNew={startNew}
            onSettings={(focused) => setDialog({ kind: "settings", focused })}
            onRetryWith={(questionKey, answer, reason) => setDialog({ kind: "retry", questionKey, answer, reason })}
            onInspect={inspect}
            filesButton={files?.button}
            onNotice={setNotice}
          />
          <Suspense>
            {address.kind === "conversation" && (
              <FilesPart key={chat.id} {...{ box, chat }} isHidden={inspected !== undefined} onChange={setFiles} />
            )}
          </Suspense>
          {inspected && (
            <Inspector box={box} chat={chat} inspected={inspected} onInspected={setInspected} onNotice={setNotice} />
          )}
        </div>
      </ToolsProvider>
      {isNarrow && (
        <SidebarSheet open={sidebar.isOpen} ready={dialogsReady} onClose={sidebar.closeSheet}>
          {list}
        </SidebarSheet>
      )}
      {dialog && (
        <OpenDialog dialog={dialog} box={box} chat={chat} handle={handle} onClose={() => setDialog(undefined)} />
      )}
      <Notice
        words={notice}
        hasSidebar={sidebar.isColumn}
        hasDetails={isWide && (files?.isOpen || inspected !== undefined)}
        onGone={clearNotice}
      />
    </>
  );
}

/** The answer whose run details are shown. */
function useInspected() {
  const [inspected, setInspected] = useState<Inspected>();
  const inspect = useCallback(
    (whole: Answer, title: string, runId?: string) => setInspected({ whole, shown: runOf(whole, runId), title }),
    [],
  );
  return { inspected, setInspected, inspect };
}

const conversationOf = (address: Address): string | undefined =>
  address.kind === "conversation" || address.kind === "files" ? address.id : undefined;

/** The chat that the address names. A new chat gets its address with its first message. */
function useChat({ chats }: Signalbox, id: string | undefined): Chat {
  const chat = id === undefined ? chats.fresh() : chats.of(id);
  const { status } = useStore(chat);
  useEffect(() => () => chats.leave(chat), [chats, chat]);
  useEffect(() => {
    if (id !== undefined || status === "new") return;
    goTo({ kind: "conversation", id: chat.id }, { replace: true });
    chats.begun(chat);
  }, [id, status, chat, chats]);
  return chat;
}

interface SidebarState {
  isOpen: boolean;
  /** It is open beside the chat. */
  isColumn: boolean;
  toggle: () => void;
  closeSheet: () => void;
}

/** In a narrow window the sidebar is a sheet, closed at first. Otherwise its state is a setting. */
function useSidebar(settings: Settings, isNarrow: boolean): SidebarState {
  const { sidebar } = useStore(settings);
  const [sheet, setSheet] = useState(false);
  return {
    isOpen: isNarrow ? sheet : sidebar,
    isColumn: !isNarrow && sidebar,
    toggle: () => (isNarrow ? setSheet(!sheet) : settings.change({ sidebar: !sidebar })),
    closeSheet: () => setSheet(false),
  };
}

interface ConversationsProps {
  box: Signalbox;
  here: Address;
  onNew: () => void;
  onOpen: (there: Address) => void;
}

function Conversations({ box: { chats, conversations, saves }, here, onNew, onOpen }: ConversationsProps) {
  return (
    <Sidebar
      conversations={conversations}
      saves={saves}
      here={here}
      onNew={onNew}
      onOpen={(id) => onOpen({ kind: "conversation", id })}
      onOpenSave={(id) => onOpen({ kind: "save", id })}
      onClosed={(id) => {
        chats.forget(id);
        goTo({ kind: "new" }, { replace: true });
      }}
    />
  );
}

/** The screen that the address names: a run, a saved answer or the chat. */
function Screen({ address, ...props }: ComponentProps<typeof ChatScreen> & { address: Address }) {
  const { box, chat, sidebarOpen, onSidebar, onInspect } = props;
  const shared = { box, sidebarOpen, onSidebar, onInspect };
  return (
    <div className="@container/main flex min-w-0 flex-1 flex-col">
      <Suspense>
        {address.kind === "run" && <RunScreen key={address.id} id={address.id} {...shared} />}
        {address.kind === "save" && <SaveScreen key={address.id} id={address.id} {...shared} />}
        {address.kind === "files" && <FilesPart key={address.id} box={box} chat={chat} isAlone />}
      </Suspense>
      {(address.kind === "new" || address.kind === "conversation") && <ChatScreen key={chat.id} {...props} />}
    </div>
  );
}

type OpenDialogProps = Omit<ComponentProps<typeof ChatDialogs>, "onAsked"> & { handle: RefObject<ChatHandle | null> };

function OpenDialog({ handle, ...props }: OpenDialogProps) {
  return (
    <Suspense>
      <ChatDialogs {...props} onAsked={() => handle.current?.focus()} />
    </Suspense>
  );
}

interface Inspected {
  whole: Answer;
  /** The inspected run. A continued answer has several. */
  shown: Answer;
  title: string;
}

interface InspectorProps {
  box: Signalbox;
  chat: Chat;
  inspected: Inspected;
  onInspected: (inspected: Inspected | undefined) => void;
  onNotice: (words: string) => void;
}

function Inspector({ box, chat, inspected, onInspected, onNotice }: InspectorProps) {
  const { whole, shown, title } = inspected;
  return (
    <Suspense>
      <RunInspectorDrawer
        key={runsOf(shown)[0]?.key}
        client={box.session.reader}
        runId={shown.runId}
        title={title || shown.state.trace.model}
        live={shown}
        parts={runsOf(joinedAnswerOf(chat.state.entries, shown) ?? whole)}
        onPart={(shown) => onInspected({ ...inspected, shown })}
        onClose={() => onInspected(undefined)}
        onUse={(asked) => {
          changeRequestSettings(box.settings, chat, asked);
          onNotice("These settings apply to your next message.");
        }}
      />
    </Suspense>
  );
}
