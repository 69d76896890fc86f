// Radio buttons styled as a segmented control.
import { useId } from "react";

interface Props<Value extends string> {
  /** The accessible name, also shown as a heading unless one is shown already. */
  label: string;
  options: readonly { value: Value; label: string }[];
  value: Value;
  onChange: (value: Value) => void;
  disabled?: boolean;
  /** The id of a sentence that describes the control. */
  describedBy?: string | undefined;
}

export function SegmentedControl<Value extends string>(props: Props<Value>) {
  const { label, options, value, onChange, disabled = false, describedBy } = props;
  const name = useId();
  return (
    <fieldset disabled={disabled} aria-describedby={describedBy} className="min-w-0">
      <legend className="sr-only">{label}</legend>
      <div
        className="grid auto-cols-fr grid-flow-col gap-0.5 rounded-md border border-edge bg-sunken p-0.5 data-[many=true]:grid-flow-row data-[many=true]:grid-cols-4"
        data-many={options.length > 4}
      >
        {options.map((option) => (
          <label
            key={option.value}
            className="flex h-7 narrow:h-8 cursor-pointer select-none items-center justify-center rounded-sm border border-transparent text-dim text-small transition-colors hover:text-ink has-disabled:cursor-default has-disabled:hover:text-dim has-checked:border-edge has-checked:bg-raised has-checked:font-medium has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent has-disabled:has-checked:bg-transparent has-disabled:has-checked:font-normal has-disabled:has-checked:text-dim"
          >
            <input
              type="radio"
              className="sr-only"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
