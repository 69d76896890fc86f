// A schema of the API, and the table of fields that operations use too.
import type { Field, Schema } from "../../logic/pages/openapi.ts";
import { InlineCodeText } from "./InlineCodeText.tsx";

export const HEADING = "mt-10 border-edge border-b pb-1.5 font-semibold text-title capitalize";
export const PART = "mt-8 grid grid-cols-[minmax(0,1fr)] gap-3";
/** The target of an anchor: highlighted, and not covered by the sticky header. */
export const PART_HEAD =
  "-mx-2 flex scroll-mt-16 flex-wrap items-baseline gap-2 rounded-sm px-2 py-0.5 font-semibold target:bg-accent-wash";

export function Method({ name }: { name: string }) {
  return <span className="w-12 shrink-0 font-mono font-semibold text-dim text-tiny">{name}</span>;
}

export function SchemaView({ schema: { name, description, fields, type } }: { schema: Schema }) {
  return (
    <section className={PART} aria-labelledby={`schema-${name}`}>
      <h3 id={`schema-${name}`} className={PART_HEAD}>
        <code>{name}</code>
      </h3>
      {description && (
        <p className="max-w-measure">
          <InlineCodeText>{description}</InlineCodeText>
        </p>
      )}
      {fields.length > 0 ? <Fields label={`Fields of ${name}`} fields={fields} /> : <p className="text-dim">{type}</p>}
    </section>
  );
}

const HEAD = "border-edge border-b py-1.5 pe-4 text-start font-medium text-dim text-tiny";
const CELL = "border-edge border-b py-1.5 pe-4 align-top";

export function Fields({ label, fields }: { label: string; fields: readonly Field[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
    <section className="overflow-x-auto" tabIndex={0} aria-label={label}>
      <table className="w-full border-collapse text-start text-small">
        <thead>
          <tr>
            <th scope="col" className={HEAD}>
              Name
            </th>
            <th scope="col" className={HEAD}>
              Type
            </th>
            <th scope="col" className={HEAD}>
              Description
            </th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <tr key={`${field.place} ${field.name}`}>
              <td className={`${CELL} whitespace-nowrap`}>
                <code>{field.name}</code>
              </td>
              <td className={`${CELL} min-w-36`}>
                <TypeText field={field} />
              </td>
              <td className={`${CELL} w-3/5 min-w-52`}>
                <InlineCodeText>{meaningOf(field)}</InlineCodeText>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const meaningOf = ({ place, required, description }: Field): string =>
  [place && `in the ${place}`, required && "required", description].filter(Boolean).join(" · ");

/** The type, with links to its schemas. */
function TypeText({ field: { type, schemas } }: { field: Field }) {
  const names = new Set(schemas);
  return type.split(/\b/).map((word, index) =>
    names.has(word) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the words of a type do not move.
      <a key={index} className="underline" href={`#schema-${word}`}>
        {word}
      </a>
    ) : (
      word
    ),
  );
}
