// Creates or changes an API token.
import { useId } from "react";
import { dateField, requestFields } from "../../../logic/pages/tokens.ts";
import type { ApiToken, Group } from "../../../types/operator.ts";
import { Field, INPUT } from "../Field.tsx";
import { FormDialog, type FormState } from "../FormDialog.tsx";
import { LimitFields } from "./LimitFields.tsx";

interface Props extends FormState {
  /** Undefined to create one. */
  token: ApiToken | undefined;
  groups: readonly Group[];
  onSave: (fields: object) => void;
}

export function TokenForm({ token, groups, onSave, ...form }: Props) {
  const group = useId();
  return (
    <FormDialog
      {...form}
      title={token ? `Change ${token.name}` : "Create an API token"}
      action={token ? "Save" : "Create"}
      onSubmit={(texts) => onSave(requestFields(texts))}
    >
      <Field name="name" label="Name" required maxLength={200} defaultValue={token?.name} hint="For whom it is." />
      <div className="grid grid-cols-2 gap-3">
        <div className="grid content-start gap-1">
          <label htmlFor={group} className="text-dim text-tiny">
            Group
          </label>
          <select id={group} name="group" defaultValue={token?.group ?? ""} className={`${INPUT} cursor-pointer`}>
            <option value="">No group</option>
            {groups.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <Field name="expires" label="Valid until" type="date" defaultValue={dateField(token?.expires)} />
      </div>
      <LimitFields limits={token} />
    </FormDialog>
  );
}
