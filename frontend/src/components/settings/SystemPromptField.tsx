// The system prompt, with its size and its variables that have no value.
import { TriangleAlert } from "lucide-react";
import { useId, useRef } from "react";
import { missingVariables } from "../../logic/chat/variables.ts";
import { roughTokens } from "../../logic/request/parameters.ts";
import { count } from "../../logic/wording/statusAndAmounts.ts";

interface Props {
  value: string;
  onChange: (value: string) => void;
}

export function SystemPromptField({ value, onChange }: Props) {
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const missing = missingVariables(value);
  return (
    <div className="flex flex-col gap-1.5">
      <textarea
        ref={box}
        aria-label="System prompt"
        aria-describedby={`${id}-size ${id}-missing`}
        rows={5}
        dir="auto"
        maxLength={100_000}
        placeholder="Tell the model how to behave. {{date}} and {{time}} are replaced with the current values."
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="max-h-80 min-h-24 w-full resize-none rounded-md border border-edge bg-ground px-3 py-2 text-small placeholder:text-dim [field-sizing:content]"
      />
      <div id={`${id}-missing`}>
        {missing.length > 0 && (
          <div className="flex flex-col gap-1.5 rounded-md bg-amber-wash px-3 py-2 text-small" data-part="missing">
            <p className="flex items-start gap-2">
              <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-lamp-running" />
              {missing.length === 1
                ? "This variable has no value. It is sent as written."
                : "These variables have no value. They are sent as written."}
            </p>
            <p className="flex flex-wrap gap-1.5">
              {missing.map(({ name, start, end }) => (
                <button
                  key={name}
                  type="button"
                  title="Show in text"
                  onClick={() => {
                    box.current?.focus();
                    box.current?.setSelectionRange(start, end);
                  }}
                  className="cursor-pointer rounded-sm border border-edge-strong px-1.5 font-mono text-tiny hover:bg-raised"
                >{`{{${name}}}`}</button>
              ))}
            </p>
          </div>
        )}
      </div>
      <p id={`${id}-size`} className="text-dim text-tiny tabular-nums" data-part="system-size">
        {value
          ? `${count(value.length)} characters, about ${count(roughTokens(value))} tokens`
          : "Empty: no system prompt is sent."}
      </p>
    </div>
  );
}
