// What was sent to a receiver in the last seven days, the newest first, with all attempts.
import { useEffect, useState } from "react";
import { attemptsText, attemptText, deliveryStatus, webhookName } from "../../../logic/pages/webhooks.ts";
import { PagedLog } from "../../../state/operator/pagedLog.ts";
import { fetchDeliveries } from "../../../state/operator/webhookRequests.ts";
import { useStore } from "../../../state/store.ts";
import type { Delivery, Webhook } from "../../../types/webhooks.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Lamp } from "../../ui/Lamp.tsx";
import { EmptyNote, LoadingNote } from "../PlainTable.tsx";

export function DeliveryLog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const [log] = useState(
    () =>
      new PagedLog<Delivery>({
        fetchPage: (before) => fetchDeliveries(webhook.id, before),
        idOf: ({ id }) => id,
      }),
  );
  const { items, next, trouble, isFetchingOlder } = useStore(log);
  useEffect(() => log.start(), [log]);
  return (
    <Dialog
      open
      place="right"
      title={`Deliveries to ${webhookName(webhook)}`}
      description="The last seven days, newest first."
      onClose={onClose}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
      <section tabIndex={0} aria-label="Deliveries" className="grid content-start gap-3 overflow-y-auto px-4 pt-1 pb-4">
        {trouble && <PageAlert>{trouble} Retrying every 5 seconds.</PageAlert>}
        {!items && !trouble && <LoadingNote />}
        {items?.length === 0 && <EmptyNote>Nothing was sent yet. A test event shows whether the URL works.</EmptyNote>}
        {items && items.length > 0 && (
          <ol className="rounded-md border border-edge text-small">
            {items.map((delivery) => (
              <Line key={delivery.id} delivery={delivery} />
            ))}
          </ol>
        )}
        {next !== undefined && (
          <Button
            look="outline"
            size="medium"
            className="justify-self-end"
            disabled={isFetchingOlder}
            onClick={() => void log.loadOlder()}
          >
            {isFetchingOlder ? "Loading…" : "Load older deliveries"}
          </Button>
        )}
      </section>
    </Dialog>
  );
}

function Line({ delivery }: { delivery: Delivery }) {
  const { id, kind, created, attempts } = delivery;
  const { lamp, words } = deliveryStatus(delivery);
  const last = attempts.at(-1);
  return (
    <li data-part="delivery" className="grid gap-1 border-edge px-4 py-2.5 not-first:border-t">
      <p className="flex flex-wrap items-center gap-x-2">
        <Lamp lamp={lamp} />
        <span className="font-medium">{kind}</span>
        <span>{words}</span>
        <time className="ms-auto text-dim tabular-nums" dateTime={new Date(created).toISOString()}>
          {new Date(created).toLocaleString()}
        </time>
      </p>
      {last && <p className="text-dim">{attemptText(last)}</p>}
      <details>
        <summary className="cursor-pointer text-dim">{attemptsText(delivery)}</summary>
        <ol className="mt-1 grid gap-0.5 tabular-nums">
          {attempts.map((attempt) => (
            <li key={attempt.at}>
              <time className="text-dim" dateTime={new Date(attempt.at).toISOString()}>
                {new Date(attempt.at).toLocaleTimeString()}
              </time>{" "}
              {attemptText(attempt)}
            </li>
          ))}
        </ol>
        <p className="mt-1 text-dim wrap-anywhere">
          webhook-id <code>{id}</code>
        </p>
      </details>
    </li>
  );
}
