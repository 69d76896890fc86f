// Where a message is written: Enter or Ctrl+Enter sends or queues, Shift+Enter makes a new line, Escape stops.
import { ArrowUp } from "lucide-react";
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  type RefObject,
  Suspense,
  useImperativeHandle,
} from "react";
import { useAttach } from "../../hooks/attachImages.ts";
import { useFilling } from "../../hooks/fillVariables.ts";
import type { Hold, Queued } from "../../run/chat/messageQueue.ts";
import { drafts, useDraft } from "../../state/drafts.ts";
import { type PictureRule, pastedFiles } from "../../state/pictures.ts";
import type { Picture } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { later } from "../ui/later.tsx";
import { Tip } from "../ui/Tip.tsx";
import { AttachButton } from "./AttachButton.tsx";
import { GrowingText } from "./AutoGrowTextarea.tsx";
import { DropArea } from "./DropArea.tsx";
import { PictureRow } from "./PictureRow.tsx";
import { type QueueActions, QueueLines } from "./QueueLines.tsx";
import { StopButton } from "./StopButton.tsx";
import { VariableChips } from "./VariableChips.tsx";

const VariablesDialog = later(() => import("./VariablesDialog.tsx").then(({ VariablesDialog }) => VariablesDialog));

export interface ComposerHandle {
  focus: () => void;
  /** Put this before what is already in the box. */
  insert: (text: string, pictures: readonly Picture[]) => void;
}

interface Props extends QueueActions {
  box: RefObject<HTMLTextAreaElement | null>;
  running: boolean;
  stopping: boolean;
  pictures: PictureRule;
  queue: readonly Queued[];
  /** The queue waits for the reader, since the last answer failed or was stopped. */
  held: boolean;
  hold: Hold | undefined;
  /** Whose draft is in the box: a conversation's id, or "new". */
  draftKey: string;
  /** Model, effort, tools: under the text. */
  toolbar: ReactNode;
  onSend: (text: string, pictures: readonly Picture[]) => void;
  onStop: () => void;
  /** Up in an empty box. */
  onEditLast: (() => void) | undefined;
  handle?: Ref<ComposerHandle>;
}

export function Composer({ box, running, stopping, pictures: rule, draftKey, toolbar, ...rest }: Props) {
  const { queue, held, hold, onSend, onStop, onEditLast, handle } = rest;
  const { onQueueSend, onQueueEdit, onQueueRemove, onQueueFix } = rest;
  const { text, pictures } = useDraft(draftKey);
  const { add, notice, say, reading } = useAttach(draftKey, rule);
  const isEmpty = !text.trim() && pictures.length === 0;

  useImperativeHandle(handle, () => ({
    focus: () => box.current?.focus(),
    insert: (before, more) => {
      drafts.change(draftKey, (draft) => ({
        text: [before, draft.text].filter(Boolean).join("\n\n"),
        pictures: more.length > 0 ? [...more, ...draft.pictures] : draft.pictures,
      }));
      box.current?.focus();
    },
  }));

  const refusal =
    pictures.length > 0 && !rule.allowed ? `${rule.reason} Remove the images or choose another model.` : undefined;
  const cannotSend = isEmpty || reading || refusal !== undefined;

  const filling = useFilling((filled) => {
    drafts.clear(draftKey);
    say("");
    onSend(filled, pictures);
    box.current?.focus();
  });

  const send = () => {
    if (!cannotSend) filling.submit(text.trim());
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const mod = event.ctrlKey || event.metaKey;
    const plain = !event.shiftKey && !mod && !event.altKey;
    // Alt with Ctrl is AltGr, which writes letters.
    const act = isSendKey(event.key, mod && !event.altKey) ? send : actionOf(event.key, plain);
    if (!act) return;
    event.preventDefault();
    act();
  };

  const actionOf = (key: string, plain: boolean): (() => void) | undefined => {
    if (!plain) return undefined;
    if (key === "Enter") return send;
    if (key === "Escape" && running) return onStop;
    return key === "ArrowUp" && text === "" && isEmpty ? onEditLast : undefined;
  };

  const onPaste = (event: ClipboardEvent) => {
    const files = pastedFiles(event.clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };

  const said = refusal ?? (reading ? "Reading the images…" : notice);
  return (
    <>
      {/* Beside the form, not in it: React tells a form of what is submitted in dialogs below it. */}
      <Suspense>{filling.asked && <VariablesDialog names={filling.asked} filling={filling} />}</Suspense>
      <form
        data-part="composer"
        className="w-full"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <QueueLines {...{ queue, held, hold, onQueueSend, onQueueEdit, onQueueRemove, onQueueFix }} />
        <div className="grid gap-2 rounded-md border border-edge-strong bg-raised p-2 has-[textarea:focus-visible]:border-accent">
          {pictures.length > 0 && (
            <div className="px-1 pt-2">
              <PictureRow
                pictures={pictures}
                onRemove={(id) => {
                  drafts.change(draftKey, (draft) => ({ pictures: draft.pictures.filter((one) => one.id !== id) }));
                  say("");
                  box.current?.focus();
                }}
              />
            </div>
          )}
          <p role="status" className={said ? "px-2 pt-1 text-dim text-small" : "sr-only"}>
            {said}
          </p>
          <div className="px-2 pt-1">
            <GrowingText
              ref={box}
              value={text}
              aria-label="Message"
              placeholder={running ? "Write your next message" : "Message"}
              enterKeyHint="send"
              // The page has one purpose, and it begins here; a keyboard that covers half of the screen is not asked for.
              autoFocus={!isTouch()}
              onChange={({ target }) => drafts.change(draftKey, () => ({ text: target.value }))}
              onKeyDown={onKeyDown}
              onPaste={onPaste}
            />
          </div>
          <VariableChips text={text} className="px-2" />
          <div className="flex items-end gap-1">
            <AttachButton rule={rule} onFiles={(files) => void add(files)} onRefused={say} />
            <div className="flex min-h-8 min-w-0 flex-1 flex-wrap items-center gap-x-1">{toolbar}</div>
            {running && <StopButton stopping={stopping} onStop={onStop} box={box} small={!isEmpty} />}
            {(!running || !isEmpty) && (
              <Tip label={running ? "Queue. It is sent when this answer is complete." : "Send"}>
                <Button
                  type="submit"
                  look="primary"
                  size="icon"
                  aria-label={running ? "Queue" : "Send"}
                  disabled={cannotSend}
                >
                  <ArrowUp aria-hidden="true" />
                </Button>
              </Tip>
            )}
          </div>
        </div>
        <DropArea rule={rule} onFiles={(files) => void add(files)} />
      </form>
    </>
  );
}

/** Beside Enter alone: what other chats, and fields in which Enter makes a new line, have taught. */
const isSendKey = (key: string, mod: boolean): boolean => key === "Enter" && mod;

/** While an input method composes a character, Enter is its own; Safari says so by the key code alone. */
const isComposing = ({ nativeEvent }: KeyboardEvent) => nativeEvent.isComposing || nativeEvent.keyCode === 229;

const isTouch = () => typeof matchMedia === "function" && matchMedia("(pointer: coarse)").matches;
