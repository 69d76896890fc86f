// The other tools of a burst: a chip per tool, and below them what each call was given and gave back.
import { memo } from "react";
import { burstLamp, lampOf, type Stop } from "../run/view.ts";
import { plural } from "../run/words.ts";
import type { CallItem } from "../types/models.ts";
import { Lamp } from "./Lamp.tsx";
import { StopHead } from "./StopHead.tsx";

type ToolsStop = Extract<Stop, { kind: "tools" }>;

const SHOWN_CHARS = 2000;

export const ToolChips = memo(
  function ToolChips({ stop }: { stop: ToolsStop }) {
    const byName = Map.groupBy(stop.calls, (call) => call.name);
    const title = (
      <>
        {stop.lamp === "running" ? "Using" : "Used"}
        <span className="chips">
          {[...byName].map(([name, calls]) => (
            <span className="chip" key={name}>
              <Lamp lamp={burstLamp(calls)} spoken />
              {name}
              {calls.length > 1 && <span className="dim">×{calls.length}</span>}
            </span>
          ))}
        </span>
      </>
    );
    return (
      <StopHead lamp={stop.lamp} title={title} auto={false}>
        {stop.calls.map((call) => (
          <Call key={call.id} call={call} />
        ))}
      </StopHead>
    );
  },
  (before, after) =>
    before.stop.calls.length === after.stop.calls.length &&
    before.stop.calls.every((call, index) => call === after.stop.calls[index]),
);

function Call({ call }: { call: CallItem }) {
  return (
    <section className="call" aria-label={call.name}>
      <p className="call-name">
        <Lamp lamp={lampOf(call)} spoken /> {call.name}
        {call.cached && <span className="dim">same call as before</span>}
      </p>
      <Json label="given" value={call.argumentsRaw ?? call.arguments} />
      {call.error === undefined ? (
        call.result !== undefined && <Json label="gave back" value={call.result} />
      ) : (
        <p className="bad">{call.error}</p>
      )}
    </section>
  );
}

function Json({ label, value }: { label: string; value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const cut = text.length - SHOWN_CHARS;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
    <section className="json" tabIndex={0} aria-label={label}>
      {text.slice(0, SHOWN_CHARS)}
      {cut > 0 && <span className="dim">{`\n… ${plural(cut, "more character")}`}</span>}
    </section>
  );
}
