// The rows of a DataTable as cards: primary columns first, secondary and tertiary ones when the card is opened.
import { memo } from "react";
import { cellOf, type Row } from "../../logic/table/dataTable.ts";
import type { Column } from "../../types/dataTable.ts";
import { CellView } from "./CellView.tsx";
import { groupAt, groupStarts } from "./groups.ts";

interface Props {
  columns: readonly Column[];
  rows: readonly Row[];
  /** The number of cards that are shown. */
  limit: number;
}

/** Without priorities, a card shows this many columns at once. */
const FEW = 4;

export function Cards({ columns, rows, limit }: Props) {
  return (
    <ul className="grid gap-1.5">
      {groupStarts(rows, limit).map((start) => (
        <Group key={start} columns={columns} rows={rows} start={start} />
      ))}
    </ul>
  );
}

interface GroupProps {
  columns: readonly Column[];
  rows: readonly Row[];
  start: number;
}

const Group = memo(function Group({ columns, rows, start }: GroupProps) {
  const { picture, first, later } = fieldsOf(columns);
  return groupAt(rows, start).map((row, index) => (
    <li
      // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity.
      key={index}
      className="flex min-w-0 gap-3 rounded-md border border-edge bg-raised p-2.5"
    >
      {picture && <CellView column={picture} row={row} />}
      <div className="min-w-0 flex-1">
        <Fields columns={first} row={row} />
        <More columns={later} row={row} />
      </div>
    </li>
  ));
});

/** The columns of a card: its picture, the fields that are always shown, and those behind More. */
function fieldsOf(columns: readonly Column[]) {
  const shown = columns.filter(({ hideOnMobile }) => !hideOnMobile);
  const picture = shown.find(({ format }) => format?.kind === "image");
  const others = shown.filter((column) => column !== picture);
  const hasPriorities = others.some(({ priority }) => priority !== undefined);
  const first = hasPriorities ? others.filter(({ priority }) => priority === "primary") : others.slice(0, FEW);
  const rest = others.filter((column) => !first.includes(column));
  const later = [
    ...rest.filter(({ priority }) => priority !== "tertiary"),
    ...rest.filter(({ priority }) => priority === "tertiary"),
  ];
  return { picture, first, later };
}

function More({ columns, row }: { columns: readonly Column[]; row: Row }) {
  const filled = columns.filter(({ key }) => cellOf(row, key) !== null);
  if (filled.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer text-dim">More</summary>
      <Fields columns={filled} row={row} />
    </details>
  );
}

const Fields = ({ columns, row }: { columns: readonly Column[]; row: Row }) => (
  <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
    {columns.map((column) => (
      <div key={column.key} className="col-span-2 grid grid-cols-subgrid">
        <dt className="text-dim">{column.label}</dt>
        <dd className="min-w-0 wrap-anywhere">
          <CellView column={column} row={row} />
        </dd>
      </div>
    ))}
  </dl>
);
