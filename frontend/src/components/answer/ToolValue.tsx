// Shows any JSON value: flat objects and rows as a table, everything else as JSON. Long values are cut until the user
// expands them.
import { type ReactNode, useState } from "react";
import { webAddress } from "../../logic/trace/sources.ts";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import { Button } from "../ui/Button.tsx";

const SHOWN_CHARS = 900;
const SHOWN_ROWS = 10;
const MOST_COLUMNS = 6;

type Flat = string | number | boolean | null;
type FlatRow = Readonly<Record<string, Flat>>;

const isFlat = (value: unknown): value is Flat => value === null || typeof value !== "object";

const isFlatRow = (value: unknown): value is FlatRow =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isFlat);

/** The columns of a list of flat objects, or undefined if the value is not tabular. */
function columnsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isFlatRow)) return undefined;
  const names = [...new Set(value.flatMap((row) => Object.keys(row)))];
  return names.length > 0 && names.length <= MOST_COLUMNS ? names : undefined;
}

/** `label` names the value, for example "Input of Calculator". */
export function ToolValue({ label, value }: { label: string; value: unknown }) {
  const columns = columnsOf(value);
  if (columns) return <Rows label={label} columns={columns} rows={value as readonly FlatRow[]} />;
  if (isFlatRow(value) && Object.keys(value).length > 0) return <Pairs label={label} pairs={value} />;
  if (typeof value === "string") return <Text label={label} text={value} dir="auto" />;
  return <Text label={label} text={JSON.stringify(value, null, 2) ?? ""} dir="ltr" />;
}

function Pairs({ label, pairs }: { label: string; pairs: FlatRow }) {
  return (
    <dl aria-label={label} className="grid grid-cols-[minmax(4rem,auto)_minmax(0,1fr)] gap-x-3">
      {Object.entries(pairs).map(([name, value]) => (
        <div key={name} className="col-span-2 grid grid-cols-subgrid">
          <dt className="max-w-40 truncate text-dim">{name}</dt>
          <dd className="min-w-0 wrap-anywhere">
            <Cell value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface RowsProps {
  label: string;
  columns: readonly string[];
  rows: readonly FlatRow[];
}

function Rows({ label, columns, rows }: RowsProps) {
  const [isWhole, showAll] = useState(false);
  const shown = isWhole ? rows : rows.slice(0, SHOWN_ROWS);
  return (
    <>
      <Scroll label={label}>
        <table className="text-start">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col" className="pe-4 text-start font-normal text-dim">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a result does not change.
              <tr key={index} className="border-edge border-t align-top">
                {columns.map((name) => (
                  <td key={name} className="max-w-80 py-0.5 pe-4 wrap-anywhere">
                    <Cell value={row[name]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {rows.length > shown.length && (
        <More onClick={() => showAll(true)}>{plural(rows.length - shown.length, "more row")}</More>
      )}
    </>
  );
}

/** A web address becomes a link. All other values stay text. */
function Cell({ value }: { value: Flat | undefined }) {
  const [isWhole, showAll] = useState(false);
  if (value === undefined) return null;
  const text = String(value);
  const href = typeof value === "string" ? webAddress(value) : undefined;
  if (href)
    return (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {text}
      </a>
    );
  const rest = isWhole ? 0 : text.length - SHOWN_CHARS;
  if (rest <= 0)
    return (
      <span dir="auto" className="plain-lines">
        {text}
      </span>
    );
  return (
    <>
      <span dir="auto" className="plain-lines">
        {text.slice(0, SHOWN_CHARS)}…
      </span>
      <More onClick={() => showAll(true)}>{plural(rest, "more character")}</More>
    </>
  );
}

function Text({ label, text, dir }: { label: string; text: string; dir: "auto" | "ltr" }) {
  const [isWhole, showAll] = useState(false);
  const rest = isWhole ? 0 : text.length - SHOWN_CHARS;
  return (
    <>
      <Scroll label={label}>
        <pre dir={dir} className="plain-lines rounded-sm bg-sunken px-2.5 py-2 font-mono text-tiny wrap-anywhere">
          {rest > 0 ? `${text.slice(0, SHOWN_CHARS)}…` : text}
        </pre>
      </Scroll>
      {rest > 0 && <More onClick={() => showAll(true)}>{plural(rest, "more character")}</More>}
    </>
  );
}

/** A scrollable box must be reachable by keyboard. */
const Scroll = ({ label, children }: { label: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
  <section aria-label={label} tabIndex={0} className="max-h-80 overflow-auto">
    {children}
  </section>
);

const More = ({ onClick, children }: { onClick: () => void; children: ReactNode }) => (
  <Button className="-ms-2" onClick={onClick}>
    {children}
  </Button>
);
