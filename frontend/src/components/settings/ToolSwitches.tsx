// The tools that the model may use, each with a switch, or with the reason why it is unavailable.
import { Switch } from "@base-ui/react/switch";
import { useId } from "react";
import { readableName } from "../../logic/wording/toolTitles.ts";
import type { Tool } from "../../types/api.ts";

interface Props {
  tools: readonly Tool[];
  off: readonly string[];
  onChange: (off: readonly string[]) => void;
  /** The reason why this model cannot use tools, as a sentence. */
  unusable: string | undefined;
}

export function ToolSwitches({ tools, off, onChange, unusable }: Props) {
  const toggle = (name: string, on: boolean) =>
    onChange(on ? off.filter((other) => other !== name) : [...off.filter((other) => other !== name), name]);
  const note = useId();
  return (
    <ul className="flex flex-col gap-3">
      {unusable && (
        <li id={note} className="text-small" data-part="reason">
          {unusable}
        </li>
      )}
      {tools.map((tool) => (
        <li key={tool.name}>
          <ToolSwitch
            tool={tool}
            unusableId={unusable && note}
            on={!off.includes(tool.name)}
            onToggle={(on) => toggle(tool.name, on)}
          />
        </li>
      ))}
    </ul>
  );
}

interface RowProps {
  tool: Tool;
  /** The element id of that reason. */
  unusableId: string | undefined;
  on: boolean;
  onToggle: (on: boolean) => void;
}

function ToolSwitch({ tool, unusableId, on, onToggle }: RowProps) {
  const id = useId();
  const reason = tool.unavailable;
  const isUsable = reason === undefined && unusableId === undefined;
  return (
    <div className="flex items-start gap-3" data-part="tool">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span id={`${id}-name`} className="text-small">
            {tool.title || readableName(tool.name)}
          </span>
          <code className="font-mono text-dim text-tiny">{tool.name}</code>
        </p>
        <p id={`${id}-about`} className="text-dim text-tiny">
          {tool.summary || tool.description}
          {reason && (
            <span className="mt-0.5 block text-ink" data-part="reason">
              {reason}
            </span>
          )}
        </p>
      </div>
      <Switch.Root
        aria-labelledby={`${id}-name`}
        aria-describedby={unusableId ? `${id}-about ${unusableId}` : `${id}-about`}
        // Off for this model. The setting is kept for other models.
        checked={on && isUsable}
        disabled={!isUsable}
        onCheckedChange={onToggle}
        className="relative mt-0.5 flex h-5 w-9 after:absolute after:-inset-2 shrink-0 cursor-pointer rounded-full border border-edge-strong bg-sunken p-0.5 transition-colors data-disabled:cursor-default data-checked:border-accent data-disabled:border-edge data-checked:bg-accent"
      >
        <Switch.Thumb className="size-3.5 rounded-full bg-edge-strong transition-[translate] data-checked:translate-x-4 data-checked:bg-accent-ink data-disabled:bg-edge" />
      </Switch.Root>
    </div>
  );
}
