// How many answers one model gives to each message.
import { useId } from "react";
import { VARIANTS } from "../../state/settings.ts";
import { SegmentedControl } from "./SegmentedControl.tsx";
import { SettingsGroup } from "./SettingsGroup.tsx";

interface Props {
  variants: number;
  /** Several models are compared, so the number has no effect. */
  comparing: boolean;
  onChange: (variants: number) => void;
}

const OPTIONS = VARIANTS.map((number) => ({ value: `${number}`, label: `${number}` }));

export function VariantsGroup({ variants, comparing, onChange }: Props) {
  const note = useId();
  return (
    <SettingsGroup title="Variants">
      <SegmentedControl
        label="Variants"
        options={OPTIONS}
        value={`${variants}`}
        onChange={(value) => onChange(Number(value))}
        disabled={comparing}
        describedBy={note}
      />
      <p id={note} className="text-dim text-tiny">
        {comparing ? "While you compare models, each model answers once." : noteOf(variants)}
      </p>
    </SettingsGroup>
  );
}

const noteOf = (variants: number): string =>
  variants === 1
    ? "The model answers each message once."
    : `The model answers each message ${variants} times. Your next message follows the answer that you choose.`;
