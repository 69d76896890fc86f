// The top of the page: the name, the model and its effort, and whether all this is a simulation.
import type { SessionState } from "../hooks/session.ts";
import type { Effort } from "../types/models.ts";
import { Lamp } from "./Lamp.tsx";
import { ModelPicker } from "./ModelPicker.tsx";

const EFFORTS: Record<Effort, string> = { auto: "Auto", low: "Low", medium: "Medium", high: "High" };

export const isEffort = (text: string): text is Effort => text in EFFORTS;

interface Props {
  session: SessionState;
  simulated: boolean;
  model: string;
  onModel: (id: string) => void;
  effort: Effort;
  onEffort: (effort: Effort) => void;
  onNew: (() => void) | undefined;
}

export function Header({ session, simulated, model, onModel, effort, onEffort, onNew }: Props) {
  return (
    <header className="header">
      <h1>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M5 2v16" />
          <circle cx="5" cy="6" r="2.75" />
          <circle cx="5" cy="14" r="2.75" />
          <path d="M10.5 6H17m-6.5 8H15" />
        </svg>
        <span>Signalbox</span>
      </h1>
      <ModelPicker
        models={session.models}
        value={model}
        onChange={onModel}
        simulated={session.readiness?.simulated === true}
      />
      <label className="effort">
        <span>Effort</span>
        <select value={effort} onChange={(event) => isEffort(event.target.value) && onEffort(event.target.value)}>
          {Object.entries(EFFORTS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <span className="space" />
      {simulated && (
        <span
          className="sign"
          title="Answers come from the built-in simulator. Set OPENROUTER_API_KEY for real models."
        >
          <Lamp lamp="blue" /> simulated
        </span>
      )}
      {onNew && (
        <button type="button" onClick={onNew}>
          New chat
        </button>
      )}
    </header>
  );
}
