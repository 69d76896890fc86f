// The message box: images, text, and the buttons that attach, send, queue and stop.
import { ArrowUp } from "lucide-react";
import { type ReactNode, type Ref, type RefObject, Suspense, useImperativeHandle } from "react";
import { useComposedMessage } from "../../hooks/composedMessage.ts";
import type { Hold, Queued } from "../../logic/chat/messageQueue.ts";
import { drafts } from "../../state/drafts.ts";
import type { PictureRule } from "../../state/pictureTypes.ts";
import type { Picture } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { later } from "../ui/later.tsx";
import { Tip } from "../ui/Tip.tsx";
import { AttachButton } from "./AttachButton.tsx";
import { DropArea } from "./DropArea.tsx";
import { MessageField } from "./MessageField.tsx";
import type { QueueActions } from "./QueueLines.tsx";
import { StopButton } from "./StopButton.tsx";
import { VariableChips } from "./VariableChips.tsx";

export const PictureRow = later(() => import("./PictureRow.tsx").then(({ PictureRow }) => PictureRow));
export const QueueLines = later(() => import("./QueueLines.tsx").then(({ QueueLines }) => QueueLines));
const VariablesDialog = later(() => import("./VariablesDialog.tsx").then(({ VariablesDialog }) => VariablesDialog));

export interface ComposerHandle {
  focus: () => void;
  /** Insert this before the current draft. */
  insert: (text: string, pictures: readonly Picture[]) => void;
}

interface Props extends QueueActions {
  box: RefObject<HTMLTextAreaElement | null>;
  running: boolean;
  stopping: boolean;
  pictures: PictureRule;
  queue: readonly Queued[];
  /** The queue is paused: the last answer failed or was stopped. */
  held: boolean;
  hold: Hold | undefined;
  /** The draft in the box: a conversation's id, or "new". */
  draftKey: string;
  /** Controls below the text. */
  toolbar: ReactNode;
  onSend: (text: string, pictures: readonly Picture[]) => void;
  onStop: () => void;
  /** ArrowUp in an empty box. */
  onEditLast: (() => void) | undefined;
  handle?: Ref<ComposerHandle>;
}

export function Composer({ box, running, stopping, pictures: rule, draftKey, toolbar, ...rest }: Props) {
  const { queue, held, hold, onSend, onStop, onEditLast, handle } = rest;
  const { onQueueSend, onQueueEdit, onQueueRemove, onQueueFix } = rest;
  const message = useComposedMessage(draftKey, rule, (text, pictures) => {
    onSend(text, pictures);
    box.current?.focus();
  });
  const { text, isEmpty, cannotSend, notice, filling, send, addFiles } = message;

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

  return (
    <>
      {/* Outside the form: React bubbles the submit event of a dialog through its parent components. */}
      <Suspense>{filling.asked && <VariablesDialog names={filling.asked} filling={filling} />}</Suspense>
      <form
        data-part="composer"
        className="w-full"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Suspense>
          <QueueLines {...{ queue, held, hold, onQueueSend, onQueueEdit, onQueueRemove, onQueueFix }} />
        </Suspense>
        <div className="grid gap-2 rounded-md border border-edge-strong bg-raised p-2 has-[textarea:focus-visible]:border-accent">
          {message.pictures.length > 0 && (
            <div className="px-1 pt-2">
              <Suspense>
                <PictureRow
                  pictures={message.pictures}
                  onRemove={(id) => {
                    message.removePicture(id);
                    box.current?.focus();
                  }}
                />
              </Suspense>
            </div>
          )}
          <p role="status" className={notice ? "px-2 pt-1 text-dim text-small" : "sr-only"}>
            {notice}
          </p>
          <MessageField
            box={box}
            draftKey={draftKey}
            text={text}
            running={running}
            send={send}
            stop={running ? onStop : undefined}
            editLast={text === "" && isEmpty ? onEditLast : undefined}
            onFiles={addFiles}
          />
          <VariableChips text={text} className="px-2" />
          <div className="flex items-end gap-1">
            <AttachButton rule={rule} onFiles={addFiles} onRefused={message.setNotice} />
            <div className="flex min-h-8 min-w-0 flex-1 flex-wrap items-center gap-x-1">{toolbar}</div>
            {running && <StopButton stopping={stopping} onStop={onStop} box={box} small={!isEmpty} />}
            {(!running || !isEmpty) && <SendButton queues={running} disabled={cannotSend} />}
          </div>
        </div>
        <DropArea rule={rule} onFiles={addFiles} />
      </form>
    </>
  );
}

/** `queues`: an answer is running, so the message is queued. */
function SendButton({ queues, disabled }: { queues: boolean; disabled: boolean }) {
  return (
    <Tip label={queues ? "Queue. It is sent when this answer is complete." : "Send"}>
      <Button type="submit" look="primary" size="icon" aria-label={queues ? "Queue" : "Send"} disabled={disabled}>
        <ArrowUp aria-hidden="true" />
      </Button>
    </Tip>
  );
}
