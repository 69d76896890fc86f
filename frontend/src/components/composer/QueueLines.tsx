// The queued messages above the message box, with buttons to send, edit and delete them.
import { CornerDownRight, Image, Pencil, Trash2 } from "lucide-react";
import { HOLD_WORDS, type Hold, type Queued, queuedText } from "../../logic/chat/messageQueue.ts";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import { Button } from "../ui/Button.tsx";
import { Tip } from "../ui/Tip.tsx";

export interface QueueActions {
  /** Stop the running answer and send this message. */
  onQueueSend: (id: string) => void;
  /** Move the message from the queue back to the box. */
  onQueueEdit: (id: string) => void;
  onQueueRemove: (id: string) => void;
  /** Take the step that removes the block. */
  onQueueFix: (hold: Hold) => void;
}

/** The button for each block that the user can remove. The others pass on their own. */
const STEPS: Readonly<Partial<Record<Hold, string>>> = {
  token: "Enter token",
  "no-models": "Try again",
  deleted: "New chat",
};

interface Props extends QueueActions {
  queue: readonly Queued[];
  held: boolean;
  /** Why no message can be sent now. */
  hold: Hold | undefined;
}

export function QueueLines({ queue, held, hold, onQueueSend, onQueueEdit, onQueueRemove, onQueueFix }: Props) {
  const step = hold && STEPS[hold];
  return (
    <>
      <p role="status" className="sr-only">
        {queue.length > 0 && (hold ? HOLD_WORDS[hold] : `${plural(queue.length, "message")} queued.`)}
      </p>
      {queue.length > 0 && (
        <section
          aria-label="Queued messages"
          data-part="queue"
          className="mx-3 rounded-t-md border border-edge border-b-0 bg-sunken px-3 py-1 text-small"
        >
          {hold && (
            <p className="flex flex-wrap items-center gap-x-2 pt-1 text-dim" data-part="hold">
              <span className="min-w-0 flex-1">{HOLD_WORDS[hold]}</span>
              {step && (
                <Button className="-me-2" onClick={() => onQueueFix(hold)}>
                  {step}
                </Button>
              )}
            </p>
          )}
          {held && !hold && (
            <p className="pt-1 text-dim">Not sent yet: the last answer did not finish, or the page was reloaded.</p>
          )}
          <ol className="max-h-[24dvh] overflow-y-auto">
            {queue.map((queued) => (
              <li key={queued.id} className="flex items-center gap-2">
                <CornerDownRight aria-hidden="true" className="size-4 shrink-0 text-dim" />
                <span dir="auto" className="min-w-0 flex-1 truncate">
                  {queuedText(queued)}
                </span>
                {queued.pictures.length > 0 && (
                  <Image aria-label={plural(queued.pictures.length, "image")} className="size-4 shrink-0 text-dim" />
                )}
                <span className="-me-2 flex shrink-0">
                  {!hold && <Button onClick={() => onQueueSend(queued.id)}>Send now</Button>}
                  {queued.again === undefined && (
                    <Tip label="Edit">
                      <Button size="icon-small" aria-label="Edit" onClick={() => onQueueEdit(queued.id)}>
                        <Pencil aria-hidden="true" />
                      </Button>
                    </Tip>
                  )}
                  <Tip label="Delete">
                    <Button size="icon-small" aria-label="Delete" onClick={() => onQueueRemove(queued.id)}>
                      <Trash2 aria-hidden="true" />
                    </Button>
                  </Tip>
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}
