// The variables of a message, each with the value that will be sent.
import { variablesIn } from "../../logic/chat/variables.ts";

export function VariableChips({ text, className = "" }: { text: string; className?: string }) {
  const variables = variablesIn(text, new Date());
  if (variables.length === 0) return null;
  return (
    <ul aria-label="Variables" data-part="variables" className={`flex flex-wrap gap-1.5 text-tiny ${className}`}>
      {variables.map(({ name, value }) => (
        <li
          key={name}
          data-known={value !== undefined}
          className="flex max-w-full items-center gap-1.5 rounded-sm border border-edge bg-sunken px-1.5 py-0.5 data-[known=false]:bg-amber-wash"
        >
          <code dir="ltr" className="truncate">{`{{${name}}}`}</code>
          {value === undefined ? (
            <span className="shrink-0">You'll be asked for it</span>
          ) : (
            <span className="shrink-0 text-dim tabular-nums">→ {value}</span>
          )}
        </li>
      ))}
    </ul>
  );
}
