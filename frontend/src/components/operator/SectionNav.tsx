// Links to the sections of the operator page.
import { SECTIONS, type SectionName } from "../../logic/pages/sections.ts";

export function SectionNav({ here }: { here: SectionName }) {
  return (
    <nav aria-label="Sections" className="flex flex-wrap gap-x-1 border-edge border-b text-small">
      {SECTIONS.map(({ name, words }) => (
        <a
          key={name}
          href={`#${name}`}
          aria-current={name === here ? "true" : undefined}
          className="-mb-px border-transparent border-b-2 px-3 py-2 text-dim no-underline transition-colors hover:text-ink aria-[current]:border-accent aria-[current]:font-medium aria-[current]:text-ink narrow:px-2.5"
        >
          {words}
        </a>
      ))}
    </nav>
  );
}
