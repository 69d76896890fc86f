// The loop switch: three positions, their effects, and the button that applies the choice.
import { type FormEvent, useState } from "react";
import { effectOf, KILLED, standsAt } from "../../run/pages/operator.ts";
import type { Lever, LeverState } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";
import { Lamp } from "../ui/Lamp.tsx";
import { Share } from "./RolloutPercent.tsx";

interface Props {
  lever: Lever;
  pulling: boolean;
  onPull: (wanted: { state: LeverState; percent: number }) => void;
}

const POSITIONS: readonly { state: LeverState; name: string; means: string }[] = [
  { state: "off", name: "Off", means: "legacy loop for everyone" },
  { state: "percent", name: "Percent", means: "V2 for some conversations" },
  { state: "on", name: "On", means: "V2 for everyone" },
];

const FIRST_SHARE = 10;

export function LeverBox({ lever, pulling, onPull }: Props) {
  const [chosen, setChosen] = useState<LeverState>();
  const [share, setShare] = useState<number>();
  const [seen, setSeen] = useState(lever);
  // Another operator has changed the flag, so the choice made here is discarded.
  if (seen.state !== lever.state || seen.percent !== lever.percent) {
    setSeen(lever);
    setChosen(undefined);
    setShare(undefined);
  }

  const killed = lever.environment === false;
  const state = chosen ?? lever.state;
  const percent = share ?? (lever.percent || FIRST_SHARE);
  const stands = state !== undefined && standsAt(lever, state, percent);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (state) onPull({ state, percent });
  };

  return (
    <form aria-label="TOOL_LOOP_V2" className="rounded-md border border-edge bg-raised" onSubmit={submit}>
      <header className="flex items-baseline justify-between gap-x-4 border-edge border-b px-5 py-3 narrow:flex-col narrow:px-4">
        <p role="status" className="font-semibold">
          {lever.effective}
        </p>
        <code className="text-dim text-tiny">TOOL_LOOP_V2</code>
      </header>
      <fieldset disabled={killed || pulling} className="grid min-w-0 gap-5 p-5 narrow:p-4">
        <legend className="sr-only">Tool loop V2</legend>
        <Positions lever={lever} state={state} killed={killed} onChoose={setChosen} />
        {state === "percent" && !killed && <Share percent={percent} onChange={setShare} />}
        <div className="flex items-start justify-between gap-5 narrow:flex-col">
          <p className="min-h-12 max-w-measure text-dim text-small">{leverWords(lever, killed, state, percent)}</p>
          {!killed && (
            <Button
              type="submit"
              look={stands ? "outline" : "primary"}
              size="medium"
              className="narrow:w-full narrow:justify-center"
              disabled={state === undefined || stands || pulling}
            >
              {pulling ? "Saving…" : stands ? "Current setting" : "Apply"}
            </Button>
          )}
        </div>
      </fieldset>
    </form>
  );
}

interface PositionsProps {
  lever: Lever;
  state: LeverState | undefined;
  killed: boolean;
  onChoose: (state: LeverState) => void;
}

/** The three positions on their rail. */
function Positions({ lever, state, killed, onChoose }: PositionsProps) {
  return (
    <div className="relative grid grid-cols-3 gap-2 rounded-md bg-sunken p-1.5">
      <span className="absolute top-8.25 end-1/6 start-1/6 border-edge-strong border-t" aria-hidden="true" />
      {POSITIONS.map(({ state: position, name, means }) => {
        const stands = lever.state === position;
        return (
          <label
            key={position}
            data-part="position"
            data-stands={stands}
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
              <Lamp lamp={stands && !killed ? "done" : "waiting"} />
            </span>
            <span className="font-semibold text-title narrow:text-body">{name}</span>
            <span className="text-dim text-tiny">{means}</span>
            <span className="min-h-4 text-dim text-tiny">{stands ? "current" : ""}</span>
          </label>
        );
      })}
    </div>
  );
}

function leverWords(lever: Lever, killed: boolean, state: LeverState | undefined, percent: number): string {
  if (killed) return KILLED;
  if (state) return effectOf(state, percent);
  const word = lever.environment ? "TOOL_LOOP_V2=true in the environment" : "the default";
  return `No setting chosen yet, so ${word} applies.`;
}
