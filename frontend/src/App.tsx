// The root component: creates the stores, provides context, and preloads code that the user is likely to need.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { Tooltip } from "@base-ui/react/tooltip";
import { Suspense, useEffect, useState } from "react";
import { ChatPage } from "./components/chat/ChatPage.tsx";
import { Rows } from "./components/chat/ChatView.tsx";
import { preloadSheet } from "./components/chat/SidebarSheet.tsx";
import { preloadProse } from "./components/markdown/Prose.tsx";
import { ModelPopup } from "./components/picker/ModelPicker.tsx";
import { preloadLines } from "./components/sidebar/lazyLineList.ts";
import { later } from "./components/ui/later.tsx";
import { preloadMenu } from "./components/ui/Menu.tsx";
import { TipPopup } from "./components/ui/Tip.tsx";
import { loadPictures } from "./hooks/attachImages.ts";
import type { Session } from "./state/server/session.ts";
import { createSignalbox, type Signalbox } from "./state/signalbox.ts";
import { useStore } from "./state/store.ts";
import { showTheme } from "./state/theme.ts";
import { whenIdle } from "./state/whenIdle.ts";

const AccessDialog = later(() => import("./components/pages/AccessDialog.tsx").then((module) => module.AccessDialog));

/** Load the components that render answers. */
export function preloadAnswers(): void {
  void Rows.preload();
  void preloadMenu();
  preloadProse();
}

/** Load the popups that the user may open next. */
function preloadBoxes(): void {
  void ModelPopup.preload();
  void TipPopup.preload();
  void loadPictures();
}

/** Load the dialogs that are rendered while closed. Resolves to whether all have loaded. */
const preloadDialogs = async (): Promise<boolean> =>
  (await Promise.all([preloadSheet(), AccessDialog.preload()])).every(Boolean);

export function App() {
  const [box] = useState(createSignalbox);
  const { theme } = useStore(box.settings);
  const dialogsReady = useStart(box);
  useEffect(() => showTheme(theme), [theme]);
  return (
    <CSPProvider disableStyleElements>
      <Tooltip.Provider delay={400}>
        <ChatPage box={box} dialogsReady={dialogsReady} />
        <TokenRequest session={box.session} ready={dialogsReady} />
      </Tooltip.Provider>
    </CSPProvider>
  );
}

/** Load the page's data and keep it up to date. Returns whether closed dialogs can be rendered. */
function useStart({ start, onTabMessage, session, settings, chats, conversations }: Signalbox): boolean {
  // The first paint and an offline page do without the dialogs.
  const [dialogsReady, setDialogsReady] = useState(false);
  useEffect(() => {
    const stopWaiting = start();
    session.load();
    whenIdle(() => {
      preloadAnswers();
      preloadBoxes();
      void preloadDialogs().then(setDialogsReady);
    });
    void preloadLines();
    void conversations.load();
    const stopFollowing = settings.follow();
    const stopListening = onTabMessage((id) => chats.refresh(id));
    // Messages from other devices appear when the user returns to this tab.
    const onBack = () => {
      if (document.hidden) return;
      chats.refreshAll();
      void conversations.load();
    };
    document.addEventListener("visibilitychange", onBack);
    return () => {
      stopWaiting();
      stopFollowing();
      stopListening();
      document.removeEventListener("visibilitychange", onBack);
    };
  }, [start, onTabMessage, session, settings, chats, conversations]);
  return dialogsReady;
}

function TokenRequest({ session, ready }: { session: Session; ready: boolean }) {
  const { tokenNeeded, tokenRefused } = useStore(session);
  return (
    <Suspense>
      {(ready || tokenNeeded) && (
        <AccessDialog
          open={tokenNeeded}
          refused={tokenRefused}
          onToken={(token, remember) => void session.takeToken(token, remember)}
          onClose={() => session.dismissToken()}
        />
      )}
    </Suspense>
  );
}
