// What decides which loop runs, in order of precedence, and which of it applies now.
import { decidersOf } from "../../run/pages/operator.ts";
import type { Lever } from "../../types/models.ts";
import { Lamp } from "../ui/Lamp.tsx";

export function Deciders({ lever }: { lever: Lever }) {
  return (
    <section aria-labelledby="deciders" className="grid gap-2">
      <h2 id="deciders" className="font-semibold">
        What decides which loop runs
      </h2>
      <p className="text-dim text-small">The first of these that is set applies.</p>
      <ol className="overflow-hidden rounded-md border border-edge text-small">
        {decidersOf(lever).map(({ name, word, decides }) => (
          <li
            key={name}
            data-part="decider"
            className={`flex flex-wrap items-center gap-x-3 border-edge px-4 py-2 not-first:border-t ${decides ? "bg-accent-wash" : "text-dim"}`}
          >
            <Lamp lamp={decides ? "done" : "waiting"} />
            <span className={decides ? "font-medium" : ""}>{name}</span>
            <span className="ms-auto">
              {word}
              {decides && <b className="font-medium"> · in effect</b>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
