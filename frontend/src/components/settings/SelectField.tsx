// A setting with a few options and a reset button.
import { useId } from "react";
import { Button } from "../ui/Button.tsx";

interface Props<Value extends string> {
  label: string;
  help: string;
  /** Empty if the setting is not set. */
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
  onReset: () => void;
  disabled?: boolean;
  /** The reason why the setting is not sent, as a sentence. */
  notSent?: string | undefined;
}

export function SelectField<Value extends string>(props: Props<Value>) {
  const { label, help, value, options, onChange, onReset, disabled = false, notSent } = props;
  const id = useId();
  return (
    <div data-part="choice" className="flex flex-col gap-1 py-1.5">
      <div className="flex min-h-7 items-center gap-2">
        <label htmlFor={id} className="min-w-0 flex-1 truncate text-small">
          {label}
        </label>
        {value !== "" && (
          <Button className="text-tiny" aria-label={`Reset ${label}`} onClick={onReset}>
            Reset
          </Button>
        )}
        <select
          id={id}
          value={value}
          disabled={disabled}
          aria-describedby={`${id}-help`}
          onChange={(event) => onChange(event.target.value as Value)}
          className="h-7 narrow:h-8 w-40 rounded-sm border border-edge bg-ground px-1.5 text-small disabled:text-dim"
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      </div>
      <p id={`${id}-help`} className={`text-tiny ${notSent ? "text-ink" : "text-dim"}`}>
        {notSent ?? help}
      </p>
    </div>
  );
}
