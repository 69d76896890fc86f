// The messages that wait above the box: send one now, take it back to change it, or drop it.
import { CornerDownRight, Image, Pencil, Trash2 } from "lucide-react";
import { HOLD_WORDS, type Hold, type Queued, queuedWords } from "../../run/chat/messageQueue.ts";
import { plural } from "../../run/wording/statusAndAmounts.ts";
import { Button } from "../ui/Button.tsx";
import { Tip } from "../ui/Tip.tsx";

export interface QueueActions {
  /** Stop what runs, and send this one. */
  onQueueSend: (id: string) => void;
  /** Take it out of the queue and back into the box. */
  onQueueEdit: (id: string) => void;
  onQueueRemove: (id: string) => void;
  /** Do what ends this hold. */
  onQueueFix: (hold: Hold) => void;
}

/** What the reader can do about a hold; the others end by themselves. */
const STEPS: Readonly<Partial<Record<Hold, string>>> = {
  token: "Enter token",
  "no-models": "Try again",
  deleted: "New chat",
};

interface Props extends QueueActions {
  queue: readonly Queued[];
  held: boolean;
  /** Why nothing can be sent now. */
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
                  {queuedWords(queued)}
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
