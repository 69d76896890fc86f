// A select element with a label above it.
import { useId } from "react";
import { SelectBox } from "../pages/SelectBox.tsx";

interface Props {
  label: string;
  value: string;
  options: readonly (readonly [value: string, words: string])[];
  onChange: (value: string) => void;
}

export function SelectField({ label, ...rest }: Props) {
  const id = useId();
  return (
    <div className="grid content-start gap-1 [&_select]:w-full [&_span]:w-full">
      <span id={id} className="text-dim text-tiny" aria-hidden="true">
        {label}
      </span>
      <SelectBox label={label} {...rest} />
    </div>
  );
}
