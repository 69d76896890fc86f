// The page: conversations at the left, the chat in the middle, a run's inspector at the right.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { Tooltip } from "@base-ui/react/tooltip";
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from "react";
import type { DialogName } from "./components/chat/ChatDialogs.tsx";
import { type ChatHandle, ChatScreen } from "./components/chat/ChatScreen.tsx";
import { Rows } from "./components/chat/ChatView.tsx";
import { Notice } from "./components/chat/Notice.tsx";
import { preloadProse } from "./components/markdown/Prose.tsx";
import { ModelPopup } from "./components/picker/ModelPicker.tsx";
import { preloadLines } from "./components/sidebar/lazyLineList.ts";
import { Sidebar } from "./components/sidebar/Sidebar.tsx";
import { copyText } from "./components/ui/Copy.tsx";
import { later } from "./components/ui/later.tsx";
import { preloadMenu } from "./components/ui/Menu.tsx";
import { TipPopup } from "./components/ui/Tip.tsx";
import { ToolTitlesProvider } from "./components/ui/ToolTitles.tsx";
import { NARROW, useMedia, WIDE } from "./hooks/mediaQuery.ts";
import { useShortcuts } from "./hooks/shortcuts.ts";
import { copyOf } from "./run/answer/copiedText.ts";
import { type Address, goTo, readAddress, useHash } from "./state/address.ts";
import { changeAsk } from "./state/changeRequestSettings.ts";
import type { Answer } from "./state/chat/answer.ts";
import type { Chat } from "./state/chat/chat.ts";
import { chainOf, runOf, wholeOf } from "./state/chat/joinedAnswer.ts";
import { retried } from "./state/retriedLoad.ts";
import { createSignalbox } from "./state/signalbox.ts";
import { useStore } from "./state/store.ts";
import { showTheme } from "./state/theme.ts";
import { whenIdle } from "./state/whenIdle.ts";

const RunInspectorDrawer = lazy(() => retried(() => import("./components/inspector/RunInspectorDrawer.tsx")));
const RunScreen = lazy(() =>
  retried(() => import("./components/chat/RunScreens.tsx").then((module) => ({ default: module.RunScreen }))),
);
const SaveScreen = lazy(() =>
  retried(() => import("./components/chat/RunScreens.tsx").then((module) => ({ default: module.SaveScreen }))),
);
const ChatDialogs = lazy(() => retried(() => import("./components/chat/ChatDialogs.tsx")));
const Dialog = later(() => import("./components/ui/Dialog.tsx").then((module) => module.Dialog));
const TokenDialog = later(() => import("./components/pages/TokenDialog.tsx").then((module) => module.TokenDialog));

/** What an answer is drawn with. */
export function preloadAnswers(): void {
  void Rows.preload();
  void preloadMenu();
  preloadProse();
}

/** What the reader may open next. */
function preloadBoxes(): void {
  void ModelPopup.preload();
  void TipPopup.preload();
}

/** Fetch the dialogs that are rendered closed; whether all of them are there. */
const preloadDialogs = async (): Promise<boolean> =>
  (await Promise.all([Dialog.preload(), TokenDialog.preload()])).every(Boolean);

export function App() {
  const [box] = useState(createSignalbox);
  const { session, settings, chats, conversations, saves } = box;
  const hash = useHash();
  const address = readAddress(hash);
  const chat = useChat(box, address.kind === "conversation" ? address.id : undefined);
  const { tokenNeeded, tokenRefused, tools } = useStore(session);
  const { sidebar, theme } = useStore(settings);
  const isNarrow = useMedia(NARROW);
  const isWide = useMedia(WIDE);
  const [sheet, setSheet] = useState(false);
  const [dialog, setDialog] = useState<DialogName>();
  const [inspected, setInspected] = useState<{ whole: Answer; shown: Answer; title: string }>();
  const [notice, setNotice] = useState("");
  // Closed dialogs are rendered once they are fetched: the first paint does without them, and so does a page offline.
  const [dialogsReady, setDialogsReady] = useState(false);
  const handle = useRef<ChatHandle>(null);
  const sidebarOpen = isNarrow ? sheet : sidebar;

  useEffect(() => {
    const stopWaiting = box.start();
    session.load();
    whenIdle(() => {
      preloadAnswers();
      preloadBoxes();
      void preloadDialogs().then(setDialogsReady);
    });
    void preloadLines();
    void conversations.load();
    const stopFollowing = settings.follow();
    const stopHearing = box.hear((id) => chats.refresh(id));
    // What was said on another device is seen when the reader comes back to this tab.
    const onBack = () => {
      if (document.hidden) return;
      chats.refreshAll();
      void conversations.load();
    };
    document.addEventListener("visibilitychange", onBack);
    return () => {
      stopWaiting();
      stopFollowing();
      stopHearing();
      document.removeEventListener("visibilitychange", onBack);
    };
  }, [box, session, settings, chats, conversations]);

  useEffect(() => showTheme(theme), [theme]);

  const toggleSidebar = () => (isNarrow ? setSheet(!sheet) : settings.change({ sidebar: !sidebar }));
  const startNew = () => {
    setSheet(false);
    goTo({ kind: "new" });
    handle.current?.focus();
  };
  const open = (there: Address) => {
    setSheet(false);
    goTo(there);
  };
  const search = () => {
    if (!sidebarOpen) toggleSidebar();
    requestAnimationFrame(() => document.getElementById("search-conversations")?.focus());
  };
  const lastAnswer = (): Answer | undefined => {
    const last = chat.state.entries.at(-1);
    return address.kind !== "run" && address.kind !== "save" && last?.kind === "answer" ? last.part.answer : undefined;
  };
  const clearNotice = useCallback(() => setNotice(""), []);
  const inspect = useCallback(
    (whole: Answer, title: string, runId?: string) => setInspected({ whole, shown: runOf(whole, runId), title }),
    [],
  );

  useShortcuts({
    search,
    new: startNew,
    models: () => handle.current?.pickModel(),
    sidebar: toggleSidebar,
    inspect: () => {
      const answer = lastAnswer();
      const question = chat.state.entries.findLast((entry) => entry.kind === "question");
      if (inspected || !answer) setInspected(undefined);
      else inspect(answer, question?.part.text ?? "");
    },
    copy: () => {
      const answer = lastAnswer();
      if (answer) void copyText(copyOf(answer.whole, "answer", location.origin)).then((said) => setNotice(`${said}.`));
    },
    focus: () => handle.current?.focus(),
    stop: chat.state.running ? () => void chat.stop() : undefined,
    shortcuts: () => setDialog({ kind: "shortcuts" }),
  });

  const list = (
    <Sidebar
      conversations={conversations}
      saves={saves}
      here={address}
      onNew={startNew}
      onOpen={(id) => open({ kind: "conversation", id })}
      onOpenSave={(id) => open({ kind: "save", id })}
      onClosed={(id) => {
        chats.forget(id);
        goTo({ kind: "new" }, { replace: true });
      }}
    />
  );
  const shared = { box, sidebarOpen, onSidebar: toggleSidebar, onInspect: inspect };

  return (
    <CSPProvider disableStyleElements>
      <Tooltip.Provider delay={400}>
        <ToolTitlesProvider tools={tools}>
          <div className="flex h-dvh overflow-hidden bg-ground text-ink">
            {!isNarrow && sidebar && <div className="w-sidebar shrink-0 border-edge border-e">{list}</div>}
            <div className="@container/main flex min-w-0 flex-1 flex-col">
              <Suspense>
                {address.kind === "run" && <RunScreen key={address.id} id={address.id} {...shared} />}
                {address.kind === "save" && <SaveScreen key={address.id} id={address.id} {...shared} />}
              </Suspense>
              {(address.kind === "new" || address.kind === "conversation") && (
                <ChatScreen
                  key={chat.id}
                  chat={chat}
                  handle={handle}
                  onNew={startNew}
                  onSettings={(focused) => setDialog({ kind: "settings", focused })}
                  onRetryWith={(questionKey, answer, reason) =>
                    setDialog({ kind: "retry", questionKey, answer, reason })
                  }
                  onNotice={setNotice}
                  {...shared}
                />
              )}
            </div>
            {inspected && (
              <Suspense>
                <RunInspectorDrawer
                  key={chainOf(inspected.shown)[0]?.key}
                  client={session.reader}
                  runId={inspected.shown.runId}
                  title={inspected.title || inspected.shown.state.trace.model}
                  live={inspected.shown}
                  parts={chainOf(wholeOf(chat.state.entries, inspected.shown) ?? inspected.whole)}
                  onPart={(shown) => setInspected({ ...inspected, shown })}
                  onClose={() => setInspected(undefined)}
                  onUse={(asked) => {
                    changeAsk(settings, chat, asked);
                    setNotice("These settings apply to your next message.");
                  }}
                />
              </Suspense>
            )}
          </div>
        </ToolTitlesProvider>
        <Suspense>
          {isNarrow && (dialogsReady || sheet) && (
            <Dialog open={sheet} onClose={() => setSheet(false)} title="Conversations" titleHidden place="left">
              {list}
            </Dialog>
          )}
        </Suspense>
        {dialog && (
          <Suspense>
            <ChatDialogs
              dialog={dialog}
              box={box}
              chat={chat}
              onClose={() => setDialog(undefined)}
              onAsked={() => handle.current?.focus()}
            />
          </Suspense>
        )}
        <Notice
          words={notice}
          hasSidebar={!isNarrow && sidebar}
          hasDetails={isWide && inspected !== undefined}
          onGone={clearNotice}
        />
        <Suspense>
          {(dialogsReady || tokenNeeded) && (
            <TokenDialog
              open={tokenNeeded}
              refused={tokenRefused}
              onToken={(token, remember) => void session.takeToken(token, remember)}
              onClose={() => session.dismissToken()}
            />
          )}
        </Suspense>
      </Tooltip.Provider>
    </CSPProvider>
  );
}

/** The chat of the address; one that gets its first question gets its address as well. */
function useChat({ chats }: ReturnType<typeof createSignalbox>, id: string | undefined): Chat {
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
