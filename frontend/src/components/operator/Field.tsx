// The fields of the operator page: a label above a text field.
import { type ComponentPropsWithRef, type ReactNode, useId } from "react";

export const INPUT =
  "h-8 w-full min-w-0 rounded-md border border-edge bg-raised px-2.5 text-small placeholder:text-dim hover:border-edge-strong aria-invalid:border-lamp-failed";

interface Props extends ComponentPropsWithRef<"input"> {
  label: string;
  /** What to enter, below the field. */
  hint?: ReactNode;
  /** Values to choose from. Others can be entered, too. */
  suggestions?: readonly string[];
}

export function Field({ label, hint, suggestions, className = "", ...rest }: Props) {
  const id = useId();
  return (
    <div className={`grid content-start gap-1 ${className}`}>
      <label htmlFor={id} className="text-dim text-tiny">
        {label}
      </label>
      <input
        id={id}
        autoComplete="off"
        spellCheck={false}
        className={INPUT}
        aria-describedby={hint ? `${id}-hint` : undefined}
        list={suggestions ? `${id}-list` : undefined}
        {...rest}
      />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {hint && (
        <p id={`${id}-hint`} className="text-dim text-tiny">
          {hint}
        </p>
      )}
    </div>
  );
}
