// The sampling parameters and the response format. Lists the parameters that are set but not supported by the model.
import { notTaken, RANGES, rangeOf, SAMPLING_NAMES, takes } from "../../run/request/parameters.ts";
import type { AskSettings, Model, ParameterName, Parameters } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { FormatField } from "./FormatField.tsx";
import { type FocusedField, ParameterField } from "./ParameterField.tsx";
import { Group } from "./SettingsGroup.tsx";

interface Props {
  ask: AskSettings;
  onAsk: (patch: Partial<AskSettings>) => void;
  onParameter: (name: ParameterName, value: number | undefined) => void;
  model: Model | undefined;
  focused: FocusedField | undefined;
}

export function ParametersGroup({ ask, onAsk, onParameter, model, focused }: Props) {
  const shown = SAMPLING_NAMES.filter((name) => takes(model, name));
  return (
    <Group title="Parameters">
      <p className="text-dim text-tiny">Only values you change are sent.</p>
      <NotTaken
        names={notTaken(ask.parameters, model)}
        parameters={ask.parameters}
        onReset={(name) => onParameter(name, undefined)}
      />
      <div>
        {shown.map((name) => (
          <ParameterField
            key={name}
            range={rangeOf(name, model)}
            value={ask.parameters[name]}
            onChange={(value) => onParameter(name, value)}
            field={focused?.name === name ? focused.ref : undefined}
          />
        ))}
        <FormatField value={ask.format} onChange={(format) => onAsk({ format })} model={model} />
      </div>
    </Group>
  );
}

interface NotTakenProps {
  names: readonly ParameterName[];
  parameters: Parameters;
  onReset: (name: ParameterName) => void;
}

function NotTaken({ names, parameters, onReset }: NotTakenProps) {
  if (names.length === 0) return null;
  return (
    <ul className="flex flex-col rounded-md bg-amber-wash px-3 py-1.5 text-small" data-part="not-taken">
      {names.map((name) => (
        <li key={name} className="flex items-center gap-2">
          <span className="min-w-0 flex-1">
            {RANGES[name].label} {parameters[name]}: not supported by this model, so not used.
          </span>
          <Button className="text-tiny" aria-label={`Reset ${RANGES[name].label}`} onClick={() => onReset(name)}>
            Reset
          </Button>
        </li>
      ))}
    </ul>
  );
}
