// The chat: header, conversation and message box.
import { type ReactNode, type Ref, Suspense, useCallback, useEffect, useRef, useState } from "react";
import type { RetryReason } from "../../logic/answer/answerActions.ts";
import { changedCount } from "../../logic/request/parameters.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { Chat } from "../../state/chat/chat.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import type { Model, ParameterName, Picture } from "../../types/api.ts";
import { preloadColumns } from "../compare/lazyColumns.ts";
import type { ComposerHandle } from "../composer/Composer.tsx";
import { EmptyPage } from "../composer/EmptyPage.tsx";
import { later } from "../ui/later.tsx";
import { useAnswerActions } from "./answerActions.ts";
import { ChatComposer } from "./ChatComposer.tsx";
import { ChatView, useEditing } from "./ChatView.tsx";
import { Header } from "./Header.tsx";
import { ModelPickers } from "./ModelPickers.tsx";

const Announcer = later(() => import("../answer/Announcer.tsx").then(({ Announcer }) => Announcer));

export interface ChatHandle {
  focus: () => void;
  pickModel: () => void;
}

interface Props {
  box: Signalbox;
  chat: Chat;
  handle: Ref<ChatHandle>;
  sidebarOpen: boolean;
  onSidebar: () => void;
  onNew: () => void;
  /** Open the settings, focused on this one if given. */
  onSettings: (focused?: ParameterName) => void;
  /** `runId` is one of the answer's runs. Default: the last. */
  onInspect: (answer: Answer, title: string, runId?: string) => void;
  /** Answer this message with another model. */
  onRetryWith: (questionKey: string, answer: Answer, reason?: RetryReason) => void;
  filesButton: ReactNode;
  /** Show a short message about what was done or why it failed. */
  onNotice: (words: string) => void;
}

export function ChatScreen(props: Props) {
  const { box, chat, handle, onNew, onSettings, onNotice } = props;
  const server = useStore(box.session);
  const settings = useStore(box.settings);
  const { entries, cost } = useStore(chat);
  const [editing, edit] = useEditing(chat);
  const [picking, setPicking] = useState(false);
  const composer = useRef<ComposerHandle>(null);

  const title = useTitle(box, chat);
  const comparing = settings.compared.length > 1;
  useEffect(() => {
    if (comparing) preloadColumns();
  }, [comparing]);
  const last = entries.at(-1);
  const lastAnswer = last?.kind === "answer" ? last.part.answer : undefined;

  const ask = (text: string, pictures: readonly Picture[] = []) => {
    void chat.send(text, pictures);
    composer.current?.focus();
  };

  // The conversation no longer exists: its unsent messages go to a new chat.
  const move = useCallback(
    (question?: string) => {
      box.chats.moveToNew(chat, question);
      onNew();
    },
    [box, chat, onNew],
  );

  const actionsOf = useAnswerActions({ ...props, composer, edit, move });
  useHandle(
    handle,
    () => composer.current?.focus(),
    () => setPicking(true),
  );
  return (
    <>
      <Header
        title={title}
        picker={<ModelPickers box={box} open={picking} onOpenChange={setPicking} />}
        comparing={comparing}
        onCompare={(on) => void compare(box, on)}
        changed={changedCount({ ...settings.ask, system: chat.system ?? settings.ask.system })}
        onSettings={() => onSettings()}
        sidebarOpen={props.sidebarOpen}
        onSidebar={props.onSidebar}
        onNew={onNew}
        filesButton={props.filesButton}
        total={cost}
        simulated={server.readiness?.simulated === true}
      />
      <ChatView
        chat={chat}
        models={server.models}
        panels={settings.reasoning}
        actionsOf={actionsOf}
        editing={editing}
        onEdit={edit}
        onAsked={() => composer.current?.focus()}
        empty={<EmptyPage onAsk={ask} />}
      >
        <ChatComposer
          box={box}
          chat={chat}
          handle={composer}
          lastAnswer={lastAnswer}
          onSend={ask}
          onEdit={edit}
          onMove={move}
          onNotice={onNotice}
        />
      </ChatView>
      <Suspense>
        <Announcer answer={lastAnswer} />
      </Suspense>
    </>
  );
}

/** The title in the sidebar, which changes when the chat is renamed. Also sets the tab's title. */
function useTitle({ conversations }: Signalbox, chat: Chat): string {
  const { lines } = useStore(conversations);
  const title = lines.find(({ id }) => id === chat.id)?.title ?? chat.state.title;
  useEffect(() => {
    document.title = title ? `${title} · Signalbox` : "Signalbox";
  }, [title]);
  return title;
}

function useHandle(handle: Ref<ChatHandle>, focus: () => void, pickModel: () => void): void {
  useEffect(() => {
    if (typeof handle !== "object" || !handle) return;
    handle.current = { focus, pickModel };
    return () => {
      handle.current = null;
    };
  });
}

/** The second model may be any listed one, so wait for the list. */
async function compare({ session, settings }: Signalbox, on: boolean): Promise<void> {
  if (on) await session.listed();
  const { ask, recent } = settings.state;
  const { models, preferred } = session.state;
  settings.change({ compared: on ? firstTwo(ask.model || preferred, recent, models) : [] });
}

/** A comparison begins with the current model and another recently used one. */
function firstTwo(model: string, recent: readonly string[], models: readonly Model[]): readonly string[] {
  const others = [...recent, ...models.map(({ id }) => id)];
  return [...new Set([model, ...others].filter(Boolean))].slice(0, 2);
}
