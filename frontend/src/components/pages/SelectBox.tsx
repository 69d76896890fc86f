// A native select element with the page's border and arrow.
import { ChevronDown } from "lucide-react";

interface Props {
  label: string;
  value: string;
  /** Value and label. */
  options: readonly (readonly [value: string, words: string])[];
  onChange: (value: string) => void;
}

export function SelectBox({ label, value, options, onChange }: Props) {
  return (
    <span className="relative inline-flex items-center">
      <select
        aria-label={label}
        value={value}
        className="h-8 cursor-pointer appearance-none rounded-md border border-edge bg-raised pe-8 ps-3 text-small hover:border-edge-strong"
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </select>
      <ChevronDown className="pointer-events-none absolute end-2.5 size-4 text-dim" aria-hidden="true" />
    </span>
  );
}
