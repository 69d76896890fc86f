// Facts of a run as a table. Values that were not reported are marked.
import type { Fact } from "../../logic/inspector/runFacts.ts";

export function FactTable({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl
      data-part="facts"
      className="grid grid-cols-[repeat(auto-fill,minmax(7.5rem,1fr))] gap-x-4 gap-y-2.5 text-small narrow:grid-cols-3 narrow:gap-x-3 tabular-nums"
    >
      {facts.map(({ name, value, note, missing }) => (
        <div key={name} className="min-w-0">
          <dt className="text-dim text-tiny">{name}</dt>
          <dd className={`wrap-anywhere ${missing ? "text-dim" : ""}`}>
            {value}
            {note && <span className="text-dim text-tiny"> {note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
