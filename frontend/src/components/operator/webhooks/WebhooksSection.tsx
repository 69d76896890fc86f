// The section "Webhooks": the receivers of events, and what was sent to them.
import { useEffect, useState } from "react";
import { webhookName } from "../../../logic/pages/webhooks.ts";
import { Webhooks } from "../../../state/operator/webhooks.ts";
import { useStore } from "../../../state/store.ts";
import type { Webhook } from "../../../types/webhooks.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { Button } from "../../ui/Button.tsx";
import { ConfirmDialog } from "../ConfirmDialog.tsx";
import { EmptyNote, LoadingNote } from "../PlainTable.tsx";
import { RotateDialog } from "../RotateDialog.tsx";
import { SecretDialog } from "../SecretDialog.tsx";
import { DeliveryLog } from "./DeliveryLog.tsx";
import { WebhookForm } from "./WebhookForm.tsx";
import { WebhookTable } from "./WebhookTable.tsx";

/** What the user has opened. */
export type Opened =
  | { what: "form"; webhook: Webhook | undefined }
  | { what: "rotate" | "delete" | "log"; webhook: Webhook };

const GRACE = [
  [86_400, "Sign with both secrets for 1 day"],
  [604_800, "Sign with both secrets for 7 days"],
  [0, "Sign with the new secret alone at once"],
] as const;

export function WebhooksSection() {
  const [store] = useState(() => new Webhooks());
  const { webhooks, trouble, secret, tests } = useStore(store);
  const [opened, setOpened] = useState<Opened>();
  useEffect(() => void store.load(), [store]);

  const open = (what: Opened) => {
    store.forgetRefusal();
    setOpened(what);
  };
  return (
    <section aria-labelledby="webhooks-title" className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <header className="flex flex-wrap items-center gap-2">
        <h2 id="webhooks-title" className="me-auto font-semibold text-title">
          Webhooks
        </h2>
        <Button look="primary" size="medium" onClick={() => open({ what: "form", webhook: undefined })}>
          Add webhook
        </Button>
      </header>
      <p className="max-w-measure text-dim text-small">
        Signalbox posts events to these URLs, and retries for about a day. Events never contain messages or answers.
      </p>
      {trouble && <PageAlert>{trouble} Reload the page to try again.</PageAlert>}
      {!webhooks && !trouble && <LoadingNote />}
      {webhooks?.length === 0 && (
        <EmptyNote>No webhooks yet. Add one to get an event when a run ends or a rollout changes.</EmptyNote>
      )}
      {webhooks && webhooks.length > 0 && (
        <WebhookTable webhooks={webhooks} tests={tests} onOpen={open} onTest={({ id }) => void store.test(id)} />
      )}
      {opened && <OpenedDialog store={store} opened={opened} onClose={() => setOpened(undefined)} />}
      {secret && (
        <SecretDialog
          title="The secret of this webhook"
          description="Your receiver verifies the signatures of requests with it. Copy it now. It cannot be shown again. If it is lost, rotate it."
          text={secret}
          copy="Copy secret"
          onClose={() => store.forgetSecret()}
        />
      )}
    </section>
  );
}

function OpenedDialog({ store, opened, onClose }: { store: Webhooks; opened: Opened; onClose: () => void }) {
  const { refusal, isSaving } = useStore(store);
  /** Close the dialog if the server has made the change. */
  const done = (change: Promise<boolean>) => void change.then((made) => made && onClose());
  const form = { refusal, isSaving, onClose };
  const { what, webhook } = opened;
  if (what === "form") {
    return (
      <WebhookForm
        {...form}
        webhook={webhook}
        onSave={(fields) => done(webhook ? store.change(webhook.id, fields) : store.create(fields))}
      />
    );
  }
  if (what === "log") return <DeliveryLog webhook={webhook} onClose={onClose} />;
  if (what === "rotate") {
    return (
      <RotateDialog
        {...form}
        title={`Rotate the secret of ${webhookName(webhook)}?`}
        description="Requests get signatures with a new secret. Your receiver needs it to verify them."
        label="The former secret"
        choices={GRACE}
        onRotate={(grace) => done(store.rotate(webhook.id, grace))}
      />
    );
  }
  return (
    <ConfirmDialog
      {...form}
      title={`Delete ${webhookName(webhook)}?`}
      action="Delete"
      onConfirm={() => done(store.delete(webhook.id))}
    >
      Pending deliveries and the log are deleted too. This cannot be undone. To stop events for a time, pause the
      webhook instead.
    </ConfirmDialog>
  );
}
