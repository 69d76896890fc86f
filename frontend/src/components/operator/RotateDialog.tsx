// Replaces a secret. The former one is valid for a time of grace.
import { useId } from "react";
import { INPUT } from "./Field.tsx";
import { FormDialog, type FormState } from "./FormDialog.tsx";

interface Props extends FormState {
  title: string;
  description: string;
  /** What the choice is about: "The former secret". */
  label: string;
  /** Seconds, and what they mean. */
  choices: readonly (readonly [seconds: number, words: string])[];
  onRotate: (graceSeconds: number) => void;
}

export function RotateDialog({ label, choices, onRotate, ...form }: Props) {
  const id = useId();
  return (
    <FormDialog {...form} place="middle" action="Rotate" onSubmit={({ grace }) => onRotate(Number(grace))}>
      <div className="grid gap-1">
        <label htmlFor={id} className="text-dim text-tiny">
          {label}
        </label>
        <select id={id} name="grace" className={`${INPUT} cursor-pointer`}>
          {choices.map(([seconds, words]) => (
            <option key={seconds} value={seconds}>
              {words}
            </option>
          ))}
        </select>
      </div>
    </FormDialog>
  );
}
