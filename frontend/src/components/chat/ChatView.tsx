// A conversation: the rows of the selected branch, and the message box below them.
import { ArrowDown } from "lucide-react";
import { type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { useFollowScroll } from "../../hooks/followScroll.ts";
import { useOffline } from "../../hooks/online.ts";
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import type { PanelChoice } from "../../logic/answer/openPanels.ts";
import type { Chat } from "../../state/chat/chat.ts";
import type { AnswerPart } from "../../state/chat/chatParts.ts";
import { useStore } from "../../state/store.ts";
import type { Model } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { later } from "../ui/later.tsx";

/** Preloaded when a chat is opened or the browser is idle. */
export const Rows = later(() => import("./Rows.tsx").then(({ Rows }) => Rows));

interface Props {
  chat: Chat;
  models: readonly Model[];
  panels: PanelChoice;
  actionsOf: (part: AnswerPart) => AnswerActions;
  /** The key of the message that is being edited. */
  editing: string | undefined;
  onEdit: (key: string | undefined) => void;
  onAsked: () => void;
  /** Shown while the chat has no messages. */
  empty: ReactNode;
  /** The message box. */
  children: ReactNode;
}

export function ChatView({ chat, models, panels, actionsOf, editing, onEdit, onAsked, empty, children }: Props) {
  const { entries, status, trouble, leaf, running } = useStore(chat);
  const { ref: follow, content, away, jump } = useFollowScroll();
  const box = useRef<HTMLElement | null>(null);
  const asked = useRef(leaf);
  const isEmpty = entries.length === 0;
  // The conversation is opened automatically when the connection is back.
  const isWaiting = useOffline() && status === "failed";

  const setBox = useCallback(
    (element: HTMLElement | null) => {
      box.current = element;
      // An empty chat has no end to follow, so it starts at the top.
      follow(isEmpty ? null : element);
    },
    [follow, isEmpty],
  );
  // The user has sent a message: scroll to its answer.
  useEffect(() => {
    if (asked.current !== leaf && running) jump();
    asked.current = leaf;
  }, [leaf, running, jump]);

  return (
    <>
      <main
        ref={setBox}
        className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain"
        aria-label="Chat"
        tabIndex={-1}
      >
        {trouble && !isWaiting && <Trouble chat={chat} trouble={trouble} isFailed={status === "failed"} />}
        {isEmpty && status === "new" && empty}
        {status === "loading" && isEmpty && (
          <p role="status" className="mx-auto max-w-3xl px-5 pt-8 text-dim text-small">
            Opening the conversation…
          </p>
        )}
        <div ref={content} className={isEmpty ? "" : "pt-6 pb-10"}>
          {!isEmpty && (
            <Suspense>
              <Rows
                box={box}
                entries={entries}
                chat={chat}
                models={models}
                panels={panels}
                actionsOf={actionsOf}
                editing={editing}
                onEdit={onEdit}
                onAsked={onAsked}
              />
            </Suspense>
          )}
        </div>
      </main>
      <footer className="relative px-5 pb-3 narrow:px-3">
        {away && !isEmpty && (
          <Button look="outline" className="absolute -top-10 inset-x-0 mx-auto w-fit shadow-over" onClick={jump}>
            <ArrowDown aria-hidden="true" />
            Scroll to bottom
          </Button>
        )}
        <div className="mx-auto max-w-3xl">{children}</div>
      </footer>
    </>
  );
}

interface TroubleProps {
  chat: Chat;
  trouble: string;
  /** The conversation could not be opened. */
  isFailed: boolean;
}

function Trouble({ chat, trouble, isFailed }: TroubleProps) {
  return (
    <p
      role="alert"
      className="mx-auto mt-4 flex max-w-3xl items-center gap-3 rounded-md border border-red-edge bg-red-wash px-3.5 py-2.5 text-red-ink text-small"
    >
      <span className="flex-1">{trouble}</span>
      {isFailed ? (
        <Button look="outline" onClick={() => void chat.open()}>
          Try again
        </Button>
      ) : (
        <Button onClick={() => chat.dismissTrouble()}>Dismiss</Button>
      )}
    </p>
  );
}

/** The key of the message that is being edited. Only one message of the current chat can be. */
export function useEditing(chat: Chat): [string | undefined, (key: string | undefined) => void] {
  const [editing, setEditing] = useState<{ chat: Chat; key: string }>();
  const edit = useCallback(
    (key: string | undefined) => setEditing(key === undefined ? undefined : { chat, key }),
    [chat],
  );
  return [editing?.chat === chat ? editing.key : undefined, edit];
}
