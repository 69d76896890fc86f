// The lever itself: three positions, what each does, and the one button that pulls it.
import { useState } from "react";
import { effectOf, KILLED, standsAt } from "../../run/operator.ts";
import type { Lever, LeverState } from "../../types/models.ts";

interface Props {
  lever: Lever;
  pulling: boolean;
  onPull: (wanted: { state: LeverState; percent: number }) => void;
}

const POSITIONS: readonly { state: LeverState; name: string }[] = [
  { state: "off", name: "Off" },
  { state: "percent", name: "Percent" },
  { state: "on", name: "On" },
];

export function LeverBox({ lever, pulling, onPull }: Props) {
  const [chosen, setChosen] = useState<LeverState>();
  const [share, setShare] = useState<number>();
  const killed = lever.environment === false;
  const state = chosen ?? lever.state;
  const percent = share ?? (lever.percent || 10);
  const stands = state !== undefined && standsAt(lever, state, percent);

  const pull = () => {
    if (state) onPull({ state, percent });
  };

  return (
    <form
      className="lever"
      aria-label="TOOL_LOOP_V2"
      onSubmit={(event) => {
        event.preventDefault();
        pull();
      }}
    >
      <p className="lever-now" role="status">
        {lever.effective}
      </p>
      <fieldset disabled={killed || pulling}>
        <legend>TOOL_LOOP_V2</legend>
        <div className="positions">
          {POSITIONS.map(({ state: position, name }) => (
            <label key={position} className="position" data-stands={lever.state === position}>
              <input
                type="radio"
                name="state"
                value={position}
                checked={state === position}
                onChange={() => setChosen(position)}
              />
              {name}
            </label>
          ))}
        </div>
        {state === "percent" && (
          <label className="share">
            <input
              type="range"
              min={0}
              max={100}
              value={percent}
              aria-label="Share of conversations"
              onChange={(event) => setShare(Number(event.target.value))}
            />
            <span>{percent} %</span>
          </label>
        )}
        <p className="dim">{leverWords(lever, killed, state, percent)}</p>
        {!killed && (
          <button type="submit" className="primary" disabled={state === undefined || stands}>
            {pulling ? "Pulling" : stands ? "It stands here" : "Pull the lever"}
          </button>
        )}
      </fieldset>
    </form>
  );
}

function leverWords(lever: Lever, killed: boolean, state: LeverState | undefined, percent: number): string {
  if (killed) return KILLED;
  if (state) return effectOf(state, percent);
  const word = lever.environment ? "TOOL_LOOP_V2=true in the environment" : "the default";
  return `Nobody has pulled it yet, so ${word} counts. Choose where it shall stand.`;
}
