// The chat: its head, the conversation and the message box, and what they do with the reader's settings.
import { type Ref, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { useOffline } from "../../hooks/online.ts";
import type { AnswerActions, RetryReason } from "../../run/answer/answerActions.ts";
import { changedCount } from "../../run/request/parameters.ts";
import type { Answer } from "../../state/chat/answer.ts";
import type { Chat } from "../../state/chat/chat.ts";
import type { AnswerPart } from "../../state/chat/chatParts.ts";
import { drafts } from "../../state/drafts.ts";
import type { PictureRule } from "../../state/pictures.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import type { Model, ParameterName, Picture } from "../../types/api.ts";
import { Announcer } from "../answer/Announcer.tsx";
import { preloadColumns } from "../compare/lazyColumns.ts";
import { Composer, type ComposerHandle } from "../composer/Composer.tsx";
import { EmptyPage } from "../composer/EmptyPage.tsx";
import { ChatView, useEditing } from "./ChatView.tsx";
import { Header } from "./Header.tsx";
import { Pickers } from "./ModelPickers.tsx";

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
  /** Open the settings, at this one where it is named. */
  onSettings: (focused?: ParameterName) => void;
  /** `runId`: of which of its runs; its last where none is named. */
  onInspect: (answer: Answer, title: string, runId?: string) => void;
  /** Have another model answer the question of this answer. */
  onRetryWith: (questionKey: string, answer: Answer, reason?: RetryReason) => void;
  /** Tell the reader that something was done, or why not. */
  onNotice: (words: string) => void;
}

export function ChatScreen(props: Props) {
  const { box, chat, handle, onInspect, onRetryWith, onSettings, onNotice } = props;
  const server = useStore(box.session);
  const settings = useStore(box.settings);
  const { status, entries, running, queue, held, hold, returned, cost } = useStore(chat);
  const [editing, edit] = useEditing(chat);
  const [picking, setPicking] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const composer = useRef<ComposerHandle>(null);

  // What is typed while a chat gets its name goes along with it.
  useEffect(() => {
    if (status !== "new") drafts.move("new", chat.id);
  }, [status, chat]);

  const title = useTitle(box, chat);
  const comparing = settings.compared.length > 1;
  useEffect(() => {
    if (comparing) preloadColumns();
  }, [comparing]);
  const model = settings.ask.model || server.preferred;
  const last = entries.at(-1);
  const lastAnswer = last?.kind === "answer" ? last.part.answer : undefined;

  const ask = (text: string, pictures: readonly Picture[] = []) => {
    void chat.send(text, pictures);
    composer.current?.focus();
  };

  // What was not accepted is back in the box.
  useEffect(() => {
    if (!returned) return;
    composer.current?.insert(returned.text, returned.pictures);
    chat.takeReturned();
    onNotice("Your last message was not sent. It is back in the message box.");
  }, [returned, chat, onNotice]);

  // The conversation is gone: what was not sent in it is asked in a new one.
  const { onNew } = props;
  const move = useCallback(
    (question?: string) => {
      box.chats.moveToNew(chat, question);
      onNew();
    },
    [box, chat, onNew],
  );

  const limits = settings.ask.parameters;
  const actionsOf = useCallback(
    (part: AnswerPart): AnswerActions => {
      const question = part.parent;
      const goOn = (key: string) => {
        void chat.continueAnswer(key);
        composer.current?.focus();
      };
      const retry = (key: string, model: string | undefined) => {
        edit(undefined);
        void chat.again(key, model);
        composer.current?.focus();
      };
      const again = (key: string) => {
        const cut = emptyContinuation(chat, part);
        return cut ? goOn(cut.key) : retry(key, besideModel(chat, part));
      };
      return {
        onRetry: question === null ? undefined : () => again(question),
        onContinue: () => goOn((emptyContinuation(chat, part) ?? part).key),
        onRetryWith: question === null ? undefined : (reason) => onRetryWith(question, part.answer, reason),
        onStop: () => {
          void part.answer.stop();
          composer.current?.focus();
        },
        limits,
        onLimit: onSettings,
        onInspect: (runId) => onInspect(part.answer, questionOf(chat, part), runId),
        onSave: () =>
          void keep(box, part.answer).then(
            () => onNotice("Saved. Find it under Saved in the sidebar."),
            (error: unknown) =>
              onNotice(`The answer could not be saved. ${error instanceof Error ? error.message : error}`),
          ),
        onNew: question === null ? undefined : () => move(question),
        onToken: () => box.session.askForToken(),
      };
    },
    [box, chat, edit, move, limits, onInspect, onRetryWith, onSettings, onNotice],
  );

  useHandle(
    handle,
    () => composer.current?.focus(),
    () => setPicking(true),
  );

  const stopping = useStopping(lastAnswer);
  const lastQuestion = entries.findLast((entry) => entry.kind === "question");
  return (
    <>
      <Header
        title={title}
        picker={<Pickers box={box} open={picking} onOpenChange={setPicking} />}
        comparing={comparing}
        onCompare={(on) => void compare(box, on)}
        changed={changedCount({ ...settings.ask, system: chat.system ?? settings.ask.system })}
        onSettings={() => onSettings()}
        sidebarOpen={props.sidebarOpen}
        onSidebar={props.onSidebar}
        onNew={props.onNew}
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
        <ServerTrouble words={server.trouble} isTold={hold === "offline"} />
        <Composer
          box={field}
          handle={composer}
          running={running}
          stopping={stopping}
          pictures={useMemo(
            () => pictureRule(server.models, comparing ? settings.compared : [model]),
            [server.models, comparing, settings.compared, model],
          )}
          queue={queue}
          held={held}
          hold={hold}
          draftKey={status === "new" ? "new" : chat.id}
          toolbar={null}
          onSend={ask}
          onStop={() => void chat.stop()}
          onQueueSend={(id) => void chat.sendQueued(id)}
          onQueueEdit={(id) => {
            const queued = chat.dropQueued(id);
            if (queued) composer.current?.insert(queued.text, queued.pictures);
          }}
          onQueueRemove={(id) => {
            chat.dropQueued(id);
            composer.current?.focus();
          }}
          onQueueFix={(hold) => {
            if (hold === "token") box.session.askForToken();
            else if (hold === "deleted") move();
            else box.session.reload();
          }}
          onEditLast={lastQuestion && !running ? () => edit(lastQuestion.part.key) : undefined}
        />
      </ChatView>
      <Announcer answer={lastAnswer} />
    </>
  );
}

interface ServerTroubleProps {
  words: string | undefined;
  /** The messages that wait say already that there is no connection. */
  isTold: boolean;
}

/** Without a connection nothing is wrong with the server: that is said once, and goes by itself. */
function ServerTrouble({ words, isTold }: ServerTroubleProps) {
  const offline = useOffline();
  if (!words || (offline && isTold)) return null;
  if (offline)
    return (
      <p role="status" className="mb-2 px-3.5 text-dim text-small">
        You're offline. This page will load the rest when you're back online.
      </p>
    );
  return (
    <p role="alert" className="mb-2 rounded-md border border-red-edge bg-red-wash px-3.5 py-2 text-red-ink text-small">
      {words}
    </p>
  );
}

/** As the list names it, which follows a change of the name; the tab is called so too. */
function useTitle({ conversations }: Signalbox, chat: Chat): string {
  const { lines } = useStore(conversations);
  const title = lines.find(({ id }) => id === chat.id)?.title ?? chat.state.title;
  useEffect(() => {
    document.title = title ? `${title} · Signalbox` : "Signalbox";
  }, [title]);
  return title;
}

const none = () => () => undefined;

/** Whether the last answer is being stopped; its tokens concern nobody here. */
const useStopping = (answer: Answer | undefined): boolean => {
  const stopping = () => answer?.snapshot().stopping ?? false;
  return useSyncExternalStore(answer?.subscribe ?? none, stopping, stopping);
};

function useHandle(handle: Ref<ChatHandle>, focus: () => void, pickModel: () => void): void {
  useEffect(() => {
    if (typeof handle !== "object" || !handle) return;
    handle.current = { focus, pickModel };
    return () => {
      handle.current = null;
    };
  });
}

const questionOf = (chat: Chat, part: AnswerPart): string => {
  const question = part.parent === null ? undefined : chat.state.parts.get(part.parent);
  return question?.kind === "question" ? question.text : "";
};

/** What a continuation that failed before its first word was to go on with: to retry it is to continue that again. */
function emptyContinuation(chat: Chat, { answer }: AnswerPart): AnswerPart | undefined {
  const isEmpty = answer.state.trace.items.every(({ kind }) => kind === "warning");
  if (!answer.continues || !isEmpty) return undefined;
  const parts = [...chat.state.parts.values()];
  return parts.find((part) => part.kind === "answer" && part.answer === answer.continues) as AnswerPart | undefined;
}

/** A column of the comparison is asked again by its own model; an answer alone by the one that is chosen now. */
function besideModel(chat: Chat, part: AnswerPart): string | undefined {
  const isBeside = chat.state.entries.some((entry) => entry.kind === "answer" && entry.beside.includes(part));
  return isBeside ? part.answer.state.trace.model : undefined;
}

const keep = (box: Signalbox, answer: Answer): Promise<unknown> =>
  box.saves.keep(answer.runId, undefined, { ask: { ...box.settings.state.ask } });

/** The second model may be any of the list, which may still be on its way. */
async function compare({ session, settings }: Signalbox, on: boolean): Promise<void> {
  if (on) await session.listed();
  const { ask, recent } = settings.state;
  const { models, preferred } = session.state;
  settings.change({ compared: on ? firstTwo(ask.model || preferred, recent, models) : [] });
}

/** To compare begins with the present model and one more that was asked lately. */
function firstTwo(model: string, recent: readonly string[], models: readonly Model[]): readonly string[] {
  const others = [...recent, ...models.map(({ id }) => id)];
  return [...new Set([model, ...others].filter(Boolean))].slice(0, 2);
}

/** A model that is not listed may read them: its host will say. */
function pictureRule(models: readonly Model[], ids: readonly string[]): PictureRule {
  const blind = models.find(({ id, badges }) => ids.includes(id) && !badges.includes("images"));
  return blind ? { allowed: false, reason: `${blind.name} cannot read images.` } : { allowed: true };
}
