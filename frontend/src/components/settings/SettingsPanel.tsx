// The settings: how requests are made, and how the page looks.
import { useId } from "react";
import { EFFORT_LABELS, supportsReasoning } from "../../logic/request/parameters.ts";
import type { ReasoningChoice, SettingsState, Theme } from "../../state/settings.ts";
import {
  EFFORTS,
  type Effort,
  type Model,
  type ParameterName,
  type Parameters,
  type RequestSettings,
  type Tool,
} from "../../types/api.ts";
import { ModelDetails } from "./ModelDetails.tsx";
import type { FocusedField } from "./ParameterField.tsx";
import { ParametersGroup } from "./ParametersGroup.tsx";
import { SegmentedControl } from "./SegmentedControl.tsx";
import { SettingsGroup } from "./SettingsGroup.tsx";
import { SystemPromptField } from "./SystemPromptField.tsx";
import { ToolsGroup } from "./ToolsGroup.tsx";
import { VariantsGroup } from "./VariantsGroup.tsx";

export interface SettingsPanelProps {
  settings: SettingsState;
  onAsk: (patch: Partial<RequestSettings>) => void;
  onChange: (patch: Partial<Pick<SettingsState, "theme" | "reasoning" | "variants">>) => void;
  /** The model from the catalogue. Undefined if it is not listed; then every setting is sent. */
  model: Model | undefined;
  /** The same model, or the little that is known of an unlisted one. */
  details: Model;
  tools: readonly Tool[];
  /** The reason why the list of tools could not be loaded, as a sentence. */
  toolsTrouble?: string | undefined;
  /** The server's default limits. */
  defaults?: Parameters | undefined;
  focused?: FocusedField | undefined;
}

const EFFORT_OPTIONS = EFFORTS.map((value) => ({ value, label: EFFORT_LABELS[value] }));

const REASONING_OPTIONS: readonly { value: ReasoningChoice; label: string }[] = [
  { value: "automatic", label: "Automatic" },
  { value: "open", label: "Open" },
  { value: "closed", label: "Closed" },
];

const REASONING_WORDS: Record<ReasoningChoice, string> = {
  automatic: "Opens while the model is thinking and closes afterwards.",
  open: "Always open.",
  closed: "Closed until you open it.",
};

const THEME_OPTIONS: readonly { value: Theme; label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

const noEffort = (effort: Effort) =>
  `This model has no reasoning effort setting${effort === "auto" ? "." : `, so ${EFFORT_LABELS[effort]} is not used.`}`;

export function SettingsPanel(props: SettingsPanelProps) {
  const { settings, onAsk, onChange, model, details, tools, toolsTrouble, defaults = {}, focused } = props;
  const { ask } = settings;
  const effortNote = useId();
  const set = (name: ParameterName, value: number | undefined) =>
    onAsk({ parameters: changed(ask.parameters, name, value) });
  const reasons = supportsReasoning(model);
  return (
    <div className="flex flex-col" data-part="settings">
      <SettingsGroup title="Reasoning effort">
        <SegmentedControl
          label="Reasoning effort"
          options={EFFORT_OPTIONS}
          value={ask.effort}
          onChange={(effort) => onAsk({ effort })}
          disabled={!reasons}
          describedBy={effortNote}
        />
        <p id={effortNote} className="text-dim text-tiny">
          {reasons ? "Auto: the model decides." : noEffort(ask.effort)}
        </p>
      </SettingsGroup>

      <ToolsGroup
        ask={ask}
        onAsk={onAsk}
        onParameter={set}
        model={model}
        tools={tools}
        toolsTrouble={toolsTrouble}
        defaults={defaults}
        focused={focused}
      />

      <VariantsGroup
        variants={settings.variants}
        comparing={settings.compared.length > 1}
        onChange={(variants) => onChange({ variants })}
      />

      <SettingsGroup title="System prompt">
        <SystemPromptField value={ask.system} onChange={(system) => onAsk({ system })} />
      </SettingsGroup>

      <ParametersGroup ask={ask} onAsk={onAsk} onParameter={set} model={model} focused={focused} />

      <SettingsGroup title="Show reasoning">
        <SegmentedControl
          label="Show reasoning"
          options={REASONING_OPTIONS}
          value={settings.reasoning}
          onChange={(reasoning) => onChange({ reasoning })}
        />
        <p className="text-dim text-tiny">{REASONING_WORDS[settings.reasoning]}</p>
      </SettingsGroup>

      <SettingsGroup title="Theme">
        <SegmentedControl
          label="Theme"
          options={THEME_OPTIONS}
          value={settings.theme}
          onChange={(theme) => onChange({ theme })}
        />
      </SettingsGroup>

      <SettingsGroup title="Model">
        <ModelDetails model={details} />
      </SettingsGroup>
    </div>
  );
}

/** Set a parameter, or remove it. */
function changed(parameters: Parameters, name: ParameterName, value: number | undefined): Parameters {
  const { [name]: _, ...rest } = parameters;
  return value === undefined ? rest : { ...rest, [name]: value };
}
