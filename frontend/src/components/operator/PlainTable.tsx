// The tables of the operator page. A phone shows each row as a card.
import type { ReactNode } from "react";

interface Props {
  /** The accessible name. */
  label: string;
  /** The names of the columns. The last one, of the buttons, is only for screen readers. */
  heads: readonly string[];
  /** The columns with amounts, which are aligned at the end. */
  amounts?: readonly string[];
  children: ReactNode;
}

export const CELL = "border-edge border-b py-2 pe-4 align-top narrow:block narrow:border-0 narrow:py-0.5 narrow:pe-0";
export const ROW = "hover:bg-sunken narrow:block narrow:border-edge narrow:border-b narrow:py-2";

const START = `${CELL} text-start`;
export const AMOUNT = `${CELL} text-end narrow:text-start`;

export function PlainTable({ label, heads, amounts = [], children }: Props) {
  return (
    <table aria-label={label} className="w-full border-collapse text-start text-small tabular-nums narrow:block">
      <thead className="text-dim text-tiny narrow:sr-only">
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col" className={`${amounts.includes(head) ? AMOUNT : START} font-medium`}>
              <span className={head === "Actions" ? "sr-only" : ""}>{head}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="narrow:block">{children}</tbody>
    </table>
  );
}

/** The name of a cell on a phone, which shows no heads. */
export const CellName = ({ children }: { children: ReactNode }) => (
  <span className="hidden text-dim narrow:inline">{children} </span>
);

export const EmptyNote = ({ children }: { children: ReactNode }) => (
  <p className="rounded-md bg-sunken px-4 py-6 text-center text-dim text-small">{children}</p>
);

export const LoadingNote = () => <p className="text-dim text-small">Loading…</p>;
