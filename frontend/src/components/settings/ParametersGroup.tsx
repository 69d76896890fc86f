// The sampling parameters and the response format. Lists the parameters that are set but not supported by the model.
import { RANGES, rangeOf, SAMPLING_NAMES, supports, unsupported } from "../../logic/request/parameters.ts";
import type { Model, ParameterName, Parameters, RequestSettings } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { FormatField } from "./FormatField.tsx";
import { type FocusedField, ParameterField } from "./ParameterField.tsx";
import { SettingsGroup } from "./SettingsGroup.tsx";

interface Props {
  ask: RequestSettings;
  onAsk: (patch: Partial<RequestSettings>) => void;
  onParameter: (name: ParameterName, value: number | undefined) => void;
  model: Model | undefined;
  focused: FocusedField | undefined;
}

export function ParametersGroup({ ask, onAsk, onParameter, model, focused }: Props) {
  const shown = SAMPLING_NAMES.filter((name) => supports(model, name));
  return (
    <SettingsGroup title="Parameters">
      <p className="text-dim text-tiny">Only values you change are sent.</p>
      <UnsupportedParameters
        names={unsupported(ask.parameters, model)}
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
    </SettingsGroup>
  );
}

interface UnsupportedProps {
  names: readonly ParameterName[];
  parameters: Parameters;
  onReset: (name: ParameterName) => void;
}

function UnsupportedParameters({ names, parameters, onReset }: UnsupportedProps) {
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
