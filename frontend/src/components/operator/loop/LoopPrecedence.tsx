// What decides which loop runs, in order of precedence, and which of it applies now.
import { loopSources } from "../../../logic/pages/operator.ts";
import type { LoopFlag } from "../../../types/models.ts";
import { Lamp } from "../../ui/Lamp.tsx";

export function LoopPrecedence({ flag }: { flag: LoopFlag }) {
  return (
    <section aria-labelledby="deciders" className="grid gap-2">
      <h2 id="deciders" className="font-semibold">
        What decides which loop runs
      </h2>
      <p className="text-dim text-small">The first of these that is set applies.</p>
      <ol className="overflow-hidden rounded-md border border-edge text-small">
        {loopSources(flag).map(({ name, value, applies }) => (
          <li
            key={name}
            data-part="decider"
            className={`flex flex-wrap items-center gap-x-3 border-edge px-4 py-2 not-first:border-t ${applies ? "bg-accent-wash" : "text-dim"}`}
          >
            <Lamp lamp={applies ? "done" : "waiting"} />
            <span className={applies ? "font-medium" : ""}>{name}</span>
            <span className="ms-auto">
              {value}
              {applies && <b className="font-medium"> · in effect</b>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
