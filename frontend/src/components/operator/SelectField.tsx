// A select element with a label above it.
import { useId } from "react";
import { SelectBox } from "../pages/SelectBox.tsx";

interface Props<Value extends string> {
  label: string;
  value: Value;
  options: readonly (readonly [value: Value, words: string])[];
  onChange: (value: Value) => void;
}

export function SelectField<Value extends string>({ label, onChange, ...rest }: Props<Value>) {
  const id = useId();
  return (
    <div className="grid content-start gap-1 [&_select]:w-full [&_span]:w-full">
      <span id={id} className="text-dim text-tiny" aria-hidden="true">
        {label}
      </span>
      <SelectBox label={label} {...rest} onChange={(value) => onChange(value as Value)} />
    </div>
  );
}
