// Gives a token a new secret.
import { useId } from "react";
import type { ApiToken } from "../../../types/operator.ts";
import { INPUT } from "../Field.tsx";
import { FormDialog, type FormState } from "../FormDialog.tsx";

const GRACE = [
  [0, "Reject it at once"],
  [3600, "Accept it for 1 hour"],
  [86_400, "Accept it for 1 day"],
  [604_800, "Accept it for 7 days"],
] as const;

interface Props extends FormState {
  token: ApiToken;
  onRotate: (graceSeconds: number) => void;
}

export function RotateDialog({ token, onRotate, ...form }: Props) {
  const id = useId();
  return (
    <FormDialog
      {...form}
      place="middle"
      title={`Rotate ${token.name}?`}
      description="The token gets a new text. Its conversations, limits and costs stay."
      action="Rotate"
      onSubmit={({ grace }) => onRotate(Number(grace))}
    >
      <div className="grid gap-1">
        <label htmlFor={id} className="text-dim text-tiny">
          The former text
        </label>
        <select id={id} name="grace" className={`${INPUT} cursor-pointer`}>
          {GRACE.map(([seconds, words]) => (
            <option key={seconds} value={seconds}>
              {words}
            </option>
          ))}
        </select>
      </div>
    </FormDialog>
  );
}
