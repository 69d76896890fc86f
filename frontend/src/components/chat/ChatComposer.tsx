// The message box of a chat, its queue, and the server's problems above it.
import { type RefObject, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { useOffline } from "../../hooks/online.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { drafts } from "../../state/drafts.ts";
import type { PictureRule } from "../../state/pictureTypes.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import type { Model, Picture } from "../../types/api.ts";
import { Composer, type ComposerHandle } from "../composer/Composer.tsx";

interface Props {
  box: Signalbox;
  chat: Chat;
  handle: RefObject<ComposerHandle | null>;
  lastAnswer: Answer | undefined;
  onSend: (text: string, pictures: readonly Picture[]) => void;
  /** Edit this message. */
  onEdit: (key: string) => void;
  /** Send this chat's unsent messages in a new chat. */
  onMove: () => void;
  onNotice: (words: string) => void;
}

export function ChatComposer({ box, chat, handle, lastAnswer, onSend, onEdit, onMove, onNotice }: Props) {
  const server = useStore(box.session);
  const { ask, compared } = useStore(box.settings);
  const { status, entries, running, queue, held, hold, returned } = useStore(chat);
  const field = useRef<HTMLTextAreaElement>(null);
  const stopping = useStopping(lastAnswer);
  const model = ask.model || server.preferred;
  const rule = useMemo(
    () => pictureRule(server.models, compared.length > 1 ? compared : [model]),
    [server.models, compared, model],
  );
  const lastQuestion = entries.findLast((entry) => entry.kind === "question");

  // The draft follows the chat when it gets its id.
  useEffect(() => {
    if (status !== "new") drafts.move("new", chat.id);
  }, [status, chat]);

  // Messages that were not accepted return to the box.
  useEffect(() => {
    if (!returned) return;
    handle.current?.insert(returned.text, returned.pictures);
    chat.takeReturned();
    onNotice("Your last message was not sent. It is back in the message box.");
  }, [returned, chat, handle, onNotice]);

  return (
    <>
      <ServerAlert words={server.trouble} isTold={hold === "offline"} />
      <Composer
        box={field}
        handle={handle}
        running={running}
        stopping={stopping}
        pictures={rule}
        queue={queue}
        held={held}
        hold={hold}
        draftKey={status === "new" ? "new" : chat.id}
        toolbar={null}
        onSend={onSend}
        onStop={() => void chat.stop()}
        onQueueSend={(id) => void chat.sendQueued(id)}
        onQueueEdit={(id) => {
          const queued = chat.dropQueued(id);
          if (queued) handle.current?.insert(queued.text, queued.pictures);
        }}
        onQueueRemove={(id) => {
          chat.dropQueued(id);
          handle.current?.focus();
        }}
        onQueueFix={(hold) => {
          if (hold === "token") box.session.askForToken();
          else if (hold === "deleted") onMove();
          else box.session.reload();
        }}
        onEditLast={lastQuestion && !running ? () => onEdit(lastQuestion.part.key) : undefined}
      />
    </>
  );
}

interface ServerTroubleProps {
  words: string | undefined;
  /** The queue already says that there is no connection. */
  isTold: boolean;
}

/** Without a network the server is not at fault. The notice disappears when the network returns. */
function ServerAlert({ words, isTold }: ServerTroubleProps) {
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

const none = () => () => undefined;

/** Whether the last answer is being stopped. Does not re-render for its tokens. */
const useStopping = (answer: Answer | undefined): boolean => {
  const stopping = () => answer?.snapshot().stopping ?? false;
  return useSyncExternalStore(answer?.subscribe ?? none, stopping, stopping);
};

/** An unlisted model may read images. Its provider decides. */
function pictureRule(models: readonly Model[], ids: readonly string[]): PictureRule {
  const blind = models.find(({ id, badges }) => ids.includes(id) && !badges.includes("images"));
  return blind ? { allowed: false, reason: `${blind.name} cannot read images.` } : { allowed: true };
}
