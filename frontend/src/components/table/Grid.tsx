// The rows of a DataTable as a table that scrolls in its box, with headings that sort.
import { memo, type RefObject, useMemo } from "react";
import { type CustomItemComponentProps, Virtualizer } from "virtua";
import { titleOf } from "../../logic/table/cellText.ts";
import { columnTracks } from "../../logic/table/columnTracks.ts";
import type { Row } from "../../logic/table/dataTable.ts";
import { keyOf } from "../../logic/table/rowKeys.ts";
import type { Sorting } from "../../logic/table/sortRows.ts";
import type { Column, DataTable } from "../../types/dataTable.ts";
import { alignOf } from "./align.ts";
import { CellView } from "./CellView.tsx";
import { Heading } from "./Heading.tsx";
import { focusable, isLarge, useRowWindow } from "./rowWindow.ts";

interface Props {
  table: DataTable;
  caption: string;
  rows: readonly Row[];
  sorting: Sorting | undefined;
  onSort: (sorting: Sorting | undefined) => void;
}

export function Grid({ table, caption, rows, sorting, onSort }: Props) {
  const { columns, data } = table;
  const { box, boxProps, kept } = useRowWindow(rows);
  const widths = useMemo(() => (isLarge(table) ? columnTracks(columns, data) : undefined), [table, columns, data]);
  return (
    <section
      {...boxProps}
      aria-label={`Rows of ${caption}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
      tabIndex={0}
      className={`overflow-auto rounded-md border border-edge ${widths ? "h-[70vh]" : "max-h-[70vh]"}`}
    >
      <table
        {...ROLES.table}
        aria-rowcount={rows.length + 1}
        ref={(element) => {
          element?.style.setProperty("--tracks", widths?.tracks ?? "");
          element?.style.setProperty("--minimum", widths?.minimum ?? "");
        }}
        className={`w-full text-start text-small ${widths ? "tracked" : ""}`}
      >
        <caption className="sr-only">{caption}</caption>
        <thead {...ROLES.group} className="sticky top-0 z-1 bg-sunken">
          <tr {...ROLES.row} aria-rowindex={1}>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        {widths ? (
          <WindowedBody box={box} kept={kept} columns={columns} rows={rows} />
        ) : (
          <tbody {...ROLES.group}>
            {rows.map((row, index) => (
              <GridRow key={keyOf(row)} index={index}>
                <Cells columns={columns} row={row} />
              </GridRow>
            ))}
          </tbody>
        )}
      </table>
    </section>
  );
}

/** Browsers derive these roles from the elements, but not all do if the elements are displayed as blocks and grids. */
const ROLES = {
  table: { role: "table" },
  group: { role: "rowgroup" },
  row: { role: "row" },
  cell: { role: "cell" },
} as const;

interface BodyProps {
  box: RefObject<HTMLElement | null>;
  kept: readonly number[];
  columns: readonly Column[];
  rows: readonly Row[];
}

const WindowedBody = ({ box, kept, columns, rows }: BodyProps) => (
  <Virtualizer as="tbody" item={GridRow} scrollRef={box} keepMounted={kept} data={rows}>
    {(row) => <Cells key={keyOf(row)} columns={columns} row={row} />}
  </Virtualizer>
);

type RowProps = Omit<CustomItemComponentProps, "style"> & Partial<CustomItemComponentProps>;

/** The first row is that of the headings. */
const GridRow = ({ index, children, ...placed }: RowProps) => (
  <tr
    {...focusable(placed)}
    {...ROLES.row}
    data-index={index}
    aria-rowindex={index + 2}
    className="border-edge border-t align-middle"
  >
    {children}
  </tr>
);

const Cells = memo(function Cells({ columns, row }: { columns: readonly Column[]; row: Row }) {
  return columns.map((column) => (
    <td
      key={column.key}
      {...ROLES.cell}
      title={titleOf(column, row)}
      className={`cell-value min-w-0 max-w-80 px-2 py-1.5 ${column.truncate ? "truncate" : "wrap-anywhere"} ${alignOf(column)}`}
    >
      <CellView column={column} row={row} />
    </td>
  ));
});
