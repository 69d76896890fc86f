// The tools, the tool choice, and the limits of a run with tools.
import { isFileTool, LIMIT_NAMES, rangeOf, supportsTools, unsentChoiceReason } from "../../logic/request/parameters.ts";
import { namedTool } from "../../logic/request/toolChoice.ts";
import { type ToolTitles, titleOf, toolTitles } from "../../logic/wording/toolTitles.ts";
import type { Model, ParameterName, Parameters, RequestSettings, Tool, ToolChoice } from "../../types/api.ts";
import { type FocusedField, ParameterField } from "./ParameterField.tsx";
import { SelectField } from "./SelectField.tsx";
import { SettingsGroup } from "./SettingsGroup.tsx";
import { ToolSwitches } from "./ToolSwitches.tsx";

interface Props {
  ask: RequestSettings;
  onAsk: (patch: Partial<RequestSettings>) => void;
  onParameter: (name: ParameterName, value: number | undefined) => void;
  model: Model | undefined;
  tools: readonly Tool[];
  /** The reason why the list of tools could not be loaded, as a sentence. */
  toolsTrouble: string | undefined;
  /** The server's default limits. */
  defaults: Parameters;
  focused: FocusedField | undefined;
}

const NO_TOOLS = "This model cannot use tools.";

export function ToolsGroup({ ask, onAsk, onParameter, model, tools, toolsTrouble, defaults, focused }: Props) {
  const canUse = supportsTools(model);
  const titles = toolTitles(tools);
  const shown = tools.filter((tool) => !tool.onRequest || isFileTool(tool));
  return (
    <SettingsGroup title="Tools">
      {tools.length === 0 ? (
        <p className="text-dim text-small">{toolsTrouble ?? "This server has no tools."}</p>
      ) : (
        <ToolSwitches
          tools={tools.filter(({ onRequest }) => !onRequest)}
          fileTools={tools.filter(isFileTool)}
          off={ask.toolsOff}
          onChange={(toolsOff) => onAsk({ toolsOff })}
          files={ask.files}
          onFiles={(files) => onAsk({ files })}
          unusable={canUse ? undefined : NO_TOOLS}
        />
      )}
      <div>
        <SelectField
          label="Tool choice"
          help={helpOf(ask.toolChoice, titles)}
          value={ask.toolChoice}
          options={choicesOf(ask.toolChoice, shown, titles)}
          onChange={(toolChoice) => onAsk({ toolChoice })}
          onReset={() => onAsk({ toolChoice: "" })}
          disabled={!canUse}
          notSent={unsentChoiceReason(ask, model, tools)}
        />
        {canUse &&
          LIMIT_NAMES.map((name) => (
            <ParameterField
              key={name}
              range={rangeOf(name, model, defaults)}
              value={ask.parameters[name]}
              onChange={(value) => onParameter(name, value)}
              field={focused?.name === name ? focused.ref : undefined}
            />
          ))}
      </div>
    </SettingsGroup>
  );
}

const HELP: Readonly<Record<string, string>> = {
  "": "The model decides.",
  auto: "The model decides whether to use a tool.",
  none: "The model cannot use tools.",
  required: "The model must use a tool first.",
};

const helpOf = (choice: ToolChoice, titles: ToolTitles): string =>
  HELP[choice] ?? `The model must use ${titleOf(titles, namedTool(choice) ?? "")} first.`;

/** The selected tool stays in the list even if the server no longer has it. */
function choicesOf(
  choice: ToolChoice,
  tools: readonly Tool[],
  titles: ToolTitles,
): readonly { value: ToolChoice; label: string }[] {
  const names = new Set(tools.map(({ name }) => name));
  const named = namedTool(choice);
  if (named !== undefined) names.add(named);
  return [
    { value: "", label: "Default" },
    { value: "auto", label: "Auto" },
    { value: "none", label: "None" },
    { value: "required", label: "Required" },
    ...[...names].map((name) => ({ value: `tool:${name}` as const, label: titleOf(titles, name) })),
  ];
}
