// Creates a group, or replaces its limits.
import { dateField, requestFields } from "../../../logic/pages/tokens.ts";
import type { Group } from "../../../types/operator.ts";
import { Field } from "../Field.tsx";
import { FormDialog, type FormState } from "../FormDialog.tsx";
import { LimitFields } from "./LimitFields.tsx";

interface Props extends FormState {
  /** Undefined to create one. */
  group: Group | undefined;
  onSave: (name: string, fields: Readonly<Record<string, unknown>>) => void;
}

export function GroupForm({ group, onSave, ...form }: Props) {
  return (
    <FormDialog
      {...form}
      title={group ? `Change ${group.name}` : "Create a group"}
      description="The limits apply to all tokens of the group together."
      action={group ? "Save" : "Create"}
      onSubmit={({ name = "", ...texts }) => onSave(group?.name ?? name.trim(), requestFields(texts))}
    >
      {!group && <Field name="name" label="Name" required maxLength={64} placeholder="trial" />}
      <Field
        name="expires"
        label="Valid until"
        type="date"
        defaultValue={dateField(group?.expires)}
        hint="After this day, the tokens of the group are rejected."
      />
      <LimitFields limits={group} />
    </FormDialog>
  );
}
