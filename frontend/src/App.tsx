// The page: one conversation with one model.
import { useEffect, useRef, useState } from "react";
import { Announcer } from "./components/Announcer.tsx";
import { Composer } from "./components/composer/Composer.tsx";
import { EmptyPage } from "./components/composer/EmptyPage.tsx";
import { FootLine } from "./components/FootLine.tsx";
import { Header, isEffort } from "./components/Header.tsx";
import { preloadProse } from "./components/prose/Prose.tsx";
import { ResponsePanel } from "./components/ResponsePanel.tsx";
import { TokenDialog } from "./components/pages/TokenDialog.tsx";
import { WatchLine } from "./components/WatchLine.tsx";
import { Chat } from "./hooks/chat.ts";
import { runInAddress, Session, tabStorage } from "./hooks/session.ts";
import { useStore } from "./hooks/store.ts";
import { useFollow, useRemembered } from "./hooks/view.ts";

function connect() {
  const session = new Session();
  const watched = runInAddress(location.hash);
  // What another tab asks is not this tab's chat: it is neither kept here nor written over what is.
  const box = watched ? undefined : tabStorage();
  const chat = new Chat({ client: session.client, onUnauthorized: () => session.askForToken(), box });
  return { session, chat, watched };
}

export function App() {
  const [{ session, chat, watched }] = useState(connect);
  const server = useStore(session);
  const { turns } = useStore(chat);
  const [chosen, setModel] = useRemembered("signalbox.model", "");
  const [effortText, setEffort] = useRemembered("signalbox.effort", "auto");
  const model = chosen || server.preferred;
  const effort = isEffort(effortText) ? effortText : "auto";

  const page = useRef<HTMLElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const { away, jump } = useFollow(page, turns);
  const last = turns.at(-1);
  const running = last !== undefined && !last.trace.end;
  const simulated = server.readiness?.simulated === true || last?.trace.end?.simulated === true;

  useEffect(() => {
    session.load();
    preloadProse();
    void (watched ? chat.watch(watched) : chat.restore());
    // A reload and a goodbye look the same here: the run goes on, and the server ends it when nobody comes back.
    const save = () => chat.save();
    const reload = () => location.reload();
    window.addEventListener("pagehide", save);
    window.addEventListener("hashchange", reload);
    return () => {
      window.removeEventListener("pagehide", save);
      window.removeEventListener("hashchange", reload);
    };
  }, [session, chat, watched]);

  const ask = async (question: string) => {
    jump();
    box.current?.focus();
    // Whoever types faster than the list of models comes is not asked to wait.
    await chat.send(question, { model: model || (await session.firstModel()), effort });
  };
  const retry = () => {
    jump();
    void chat.retry({ model, effort });
    box.current?.focus();
  };
  const leave = () => location.assign(location.pathname);
  const takeToken = (token: string) => {
    session.keepToken(token);
    if (watched) return location.reload();
    if (last?.trace.end?.code === "UNAUTHORIZED") retry();
  };

  return (
    <div className="page">
      <Header
        session={server}
        simulated={simulated}
        model={model}
        onModel={setModel}
        effort={effort}
        onEffort={setEffort}
        onNew={watched ? leave : turns.length > 0 ? () => chat.clear() : undefined}
      />
      <main ref={page} className="chat">
        <div className="column">
          {server.trouble && (
            <p className="error-box" role="alert">
              {server.trouble}
            </p>
          )}
          {turns.length === 0 && !watched && <EmptyPage onAsk={(prompt) => void ask(prompt)} />}
          {turns.map((turn) => (
            <section key={turn.id} className="turn" aria-label="Question and answer">
              {turn.question && <p className="question">{turn.question}</p>}
              <ResponsePanel turn={turn} onRetry={turn === last && !running && !watched ? retry : undefined} />
            </section>
          ))}
        </div>
      </main>
      <footer className="foot">
        {away && running && (
          <button type="button" className="jump" onClick={jump}>
            Follow the answer
          </button>
        )}
        {watched ? (
          <WatchLine running={running} stopping={last?.stopping === true} onStop={() => void chat.stop()} />
        ) : (
          <Composer
            box={box}
            running={running}
            stopping={last?.stopping === true}
            onSend={(text) => void ask(text)}
            onStop={() => void chat.stop()}
          />
        )}
        <FootLine kept={!watched} />
      </footer>
      <Announcer turn={last} />
      <TokenDialog open={server.tokenNeeded} onToken={takeToken} onClose={() => session.dismissToken()} />
    </div>
  );
}
