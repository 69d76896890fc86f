// Creates a group, or replaces its limits.
import { useState } from "react";
import { dateField, type FormTexts, requestFields } from "../../../logic/pages/tokens.ts";
import type { Group } from "../../../types/operator.ts";
import { Field } from "../Field.tsx";
import { FormDialog, type FormState } from "../FormDialog.tsx";
import { LimitFields } from "./LimitFields.tsx";

interface Props extends FormState {
  /** Undefined to create one. */
  group: Group | undefined;
  /** The names of all groups. */
  taken: readonly string[];
  onSave: (name: string, fields: Readonly<Record<string, unknown>>) => void;
}

export function GroupForm({ group, taken, onSave, refusal, ...form }: Props) {
  const [isTaken, setTaken] = useState(false);
  const create = (name: string, texts: FormTexts) => {
    // The server would replace the limits of the group.
    setTaken(taken.includes(name));
    if (!taken.includes(name)) onSave(name, requestFields(texts));
  };
  return (
    <FormDialog
      {...form}
      title={group ? `Change ${group.name}` : "Create a group"}
      description="The limits apply to all tokens of the group together."
      action={group ? "Save" : "Create"}
      refusal={
        isTaken ? "There is already a group with this name. Choose another name, or change that group." : refusal
      }
      onSubmit={({ name = "", ...texts }) =>
        group ? onSave(group.name, requestFields(texts)) : create(name.trim(), texts)
      }
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
