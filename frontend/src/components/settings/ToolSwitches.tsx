// The tools that the model may use, each with a switch, or with the reason why it is unavailable.
import { Switch } from "@base-ui/react/switch";
import { useId } from "react";
import { readableName } from "../../logic/wording/toolTitles.ts";
import type { Tool } from "../../types/api.ts";

interface Props {
  tools: readonly Tool[];
  off: readonly string[];
  onChange: (off: readonly string[]) => void;
  /** The tools that work on the conversation's files. One switch turns all of them on or off. */
  fileTools: readonly Tool[];
  files: boolean;
  onFiles: (on: boolean) => void;
  /** The reason why this model cannot use tools, as a sentence. */
  unusable: string | undefined;
}

export function ToolSwitches({ tools, off, onChange, fileTools, files, onFiles, unusable }: Props) {
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
            title={tool.title || readableName(tool.name)}
            name={tool.name}
            about={tool.summary || tool.description}
            reason={tool.unavailable}
            unusableId={unusable && note}
            on={!off.includes(tool.name)}
            onToggle={(on) => toggle(tool.name, on)}
          />
        </li>
      ))}
      {fileTools.length > 0 && (
        <li>
          <FilesSwitch tools={fileTools} unusableId={unusable && note} on={files} onToggle={onFiles} />
        </li>
      )}
    </ul>
  );
}

interface FilesProps {
  tools: readonly Tool[];
  unusableId: string | undefined;
  on: boolean;
  onToggle: (on: boolean) => void;
}

function FilesSwitch({ tools, ...rest }: FilesProps) {
  const usable = tools.filter(({ unavailable }) => unavailable === undefined);
  return (
    <ToolSwitch
      title="Files"
      name={`${usable.length} tools`}
      about="The model can write files, such as a web page. The page shows them beside the chat."
      reason={usable.length > 0 ? undefined : tools[0]?.unavailable}
      {...rest}
    />
  );
}

interface RowProps {
  title: string;
  /** Beside the title: the tool's name, or the number of tools. */
  name: string;
  about: string;
  /** The reason why it is not available on this server. */
  reason: string | undefined;
  /** The element id of the reason why this model cannot use tools. */
  unusableId: string | undefined;
  on: boolean;
  onToggle: (on: boolean) => void;
}

function ToolSwitch({ title, name, about, reason, unusableId, on, onToggle }: RowProps) {
  const id = useId();
  const isUsable = reason === undefined && unusableId === undefined;
  return (
    <div className="flex items-start gap-3" data-part="tool">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span id={`${id}-name`} className="text-small">
            {title}
          </span>
          <code className="font-mono text-dim text-tiny">{name}</code>
        </p>
        <p id={`${id}-about`} className="text-dim text-tiny">
          {about}
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
