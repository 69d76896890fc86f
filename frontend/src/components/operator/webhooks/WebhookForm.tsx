// Adds or changes a webhook.
import { useState } from "react";
import { EVENT_KINDS, webhookName } from "../../../logic/pages/webhooks.ts";
import type { Webhook, WebhookFields } from "../../../types/webhooks.ts";
import { Field } from "../Field.tsx";
import { FormDialog, type FormState } from "../FormDialog.tsx";

interface Props extends FormState {
  /** Undefined to add one. */
  webhook: Webhook | undefined;
  onSave: (fields: WebhookFields) => void;
}

const ALL = EVENT_KINDS.map(({ kind }) => kind);

export function WebhookForm({ webhook, onSave, refusal, ...form }: Props) {
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? ALL);
  const [isActive, setActive] = useState(webhook?.isActive ?? true);
  const [isNothingChosen, setNothingChosen] = useState(false);
  // The server may know further kinds, which are kept.
  const kinds = [...EVENT_KINDS, ...events.filter((kind) => !ALL.some((one) => one === kind)).map(unknownKind)];
  const toggle = (kind: string, isOn: boolean) =>
    setEvents(isOn ? [...events, kind] : events.filter((one) => one !== kind));
  return (
    <FormDialog
      {...form}
      refusal={isNothingChosen && events.length === 0 ? "Choose at least one event." : refusal}
      title={webhook ? `Change ${webhookName(webhook)}` : "Add a webhook"}
      action={webhook ? "Save" : "Add"}
      onSubmit={({ url = "", description = "" }) => {
        setNothingChosen(events.length === 0);
        if (events.length > 0) onSave({ url: url.trim(), description: description.trim(), events, active: isActive });
      }}
    >
      <Field
        name="url"
        label="URL"
        type="url"
        required
        maxLength={2000}
        defaultValue={webhook?.url}
        placeholder="https://example.org/hooks/signalbox"
        hint="A public https address. Hosts in SIGNALBOX_WEBHOOK_ALLOWED_HOSTS may also be private."
      />
      <Field name="description" label="Description" maxLength={500} defaultValue={webhook?.description} />
      <fieldset className="grid min-w-0 gap-2">
        <legend className="mb-1 font-medium text-small">Events</legend>
        {kinds.map(({ kind, words }) => (
          <Check key={kind} checked={events.includes(kind)} onChange={(isOn) => toggle(kind, isOn)} hint={words}>
            {kind}
          </Check>
        ))}
      </fieldset>
      <Check checked={isActive} onChange={setActive} hint="A paused webhook gets no new events. Pending ones wait.">
        Active
      </Check>
    </FormDialog>
  );
}

const unknownKind = (kind: string) => ({ kind, words: "" });

interface CheckProps {
  checked: boolean;
  onChange: (isOn: boolean) => void;
  hint: string;
  children: string;
}

function Check({ checked, onChange, hint, children }: CheckProps) {
  return (
    <label className="flex min-h-6 cursor-pointer gap-2.5 text-small">
      <input
        type="checkbox"
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <span>
        {children}
        {hint && <span className="block text-dim text-tiny">{hint}</span>}
      </span>
    </label>
  );
}
