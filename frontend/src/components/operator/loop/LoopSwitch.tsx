// The loop switch: three positions, their effects, and the button that applies the choice.
import { type FormEvent, useState } from "react";
import { effectOf, isCurrent, KILLED } from "../../../logic/pages/operator.ts";
import type { FlagState, LoopFlag } from "../../../types/models.ts";
import { Button } from "../../ui/Button.tsx";
import { Lamp } from "../../ui/Lamp.tsx";
import { RolloutPercent } from "./RolloutPercent.tsx";

interface Props {
  flag: LoopFlag;
  saving: boolean;
  onApply: (wanted: { state: FlagState; percent: number }) => void;
}

const POSITIONS: readonly { state: FlagState; name: string; means: string }[] = [
  { state: "off", name: "Off", means: "legacy loop for everyone" },
  { state: "percent", name: "Percent", means: "V2 for some conversations" },
  { state: "on", name: "On", means: "V2 for everyone" },
];

const FIRST_SHARE = 10;

export function LoopSwitch({ flag, saving, onApply }: Props) {
  const [chosen, setChosen] = useState<FlagState>();
  const [share, setShare] = useState<number>();
  const [seen, setSeen] = useState(flag);
  // Another operator has changed the flag, so the choice made here is discarded.
  if (seen.state !== flag.state || seen.percent !== flag.percent) {
    setSeen(flag);
    setChosen(undefined);
    setShare(undefined);
  }

  const killed = flag.environment === false;
  const state = chosen ?? flag.state;
  const percent = share ?? (flag.percent || FIRST_SHARE);
  const isUnchanged = state !== undefined && isCurrent(flag, state, percent);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (state) onApply({ state, percent });
  };

  return (
    <form aria-label="TOOL_LOOP_V2" className="rounded-md border border-edge bg-raised" onSubmit={submit}>
      <header className="flex items-baseline justify-between gap-x-4 border-edge border-b px-5 py-3 narrow:flex-col narrow:px-4">
        <p role="status" className="font-semibold">
          {flag.effective}
        </p>
        <code className="text-dim text-tiny">TOOL_LOOP_V2</code>
      </header>
      <fieldset disabled={killed || saving} className="grid min-w-0 gap-5 p-5 narrow:p-4">
        <legend className="sr-only">Tool loop V2</legend>
        <Positions flag={flag} state={state} killed={killed} onChoose={setChosen} />
        {state === "percent" && !killed && <RolloutPercent percent={percent} onChange={setShare} />}
        <div className="flex items-start justify-between gap-5 narrow:flex-col">
          <p className="min-h-12 max-w-measure text-dim text-small">{helpOf(flag, killed, state, percent)}</p>
          {!killed && (
            <Button
              type="submit"
              look={isUnchanged ? "outline" : "primary"}
              size="medium"
              className="narrow:w-full narrow:justify-center"
              disabled={state === undefined || isUnchanged || saving}
            >
              {saving ? "Saving…" : isUnchanged ? "Current setting" : "Apply"}
            </Button>
          )}
        </div>
      </fieldset>
    </form>
  );
}

interface PositionsProps {
  flag: LoopFlag;
  state: FlagState | undefined;
  killed: boolean;
  onChoose: (state: FlagState) => void;
}

/** The three positions on their rail. */
function Positions({ flag, state, killed, onChoose }: PositionsProps) {
  return (
    <div className="relative grid grid-cols-3 gap-2 rounded-md bg-sunken p-1.5">
      <span className="absolute top-8.25 end-1/6 start-1/6 border-edge-strong border-t" aria-hidden="true" />
      {POSITIONS.map(({ state: position, name, means }) => {
        const isSet = flag.state === position;
        return (
          <label
            key={position}
            data-part="position"
            className="relative grid cursor-pointer content-start justify-items-center gap-0.5 rounded-sm border border-transparent px-2 pt-4 pb-3 text-center transition-colors has-checked:border-accent has-checked:bg-raised has-disabled:cursor-default has-disabled:border-transparent has-disabled:bg-transparent has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2"
          >
            <input
              type="radio"
              name="state"
              value={position}
              checked={state === position}
              onChange={() => onChoose(position)}
              className="pointer-events-none absolute inset-0 size-full opacity-0"
            />
            <span
              className={`flex size-5 items-center justify-center rounded-full ${state === position && !killed ? "bg-raised" : "bg-sunken"}`}
            >
              <Lamp lamp={isSet && !killed ? "done" : "waiting"} />
            </span>
            <span className="font-semibold text-title narrow:text-body">{name}</span>
            <span className="text-dim text-tiny">{means}</span>
            <span className="min-h-4 text-dim text-tiny">{isSet ? "current" : ""}</span>
          </label>
        );
      })}
    </div>
  );
}

function helpOf(flag: LoopFlag, killed: boolean, state: FlagState | undefined, percent: number): string {
  if (killed) return KILLED;
  if (state) return effectOf(state, percent);
  const source = flag.environment ? "TOOL_LOOP_V2=true in the environment" : "the default";
  return `No setting chosen yet, so ${source} applies.`;
}
