// The rows of a DataTable as cards: primary columns first, secondary and tertiary ones when the card is opened.
import { Fragment, memo, useMemo, useState } from "react";
import { type CustomItemComponentProps, Virtualizer } from "virtua";
import { titleOf } from "../../logic/table/cellText.ts";
import { cellOf, type Row } from "../../logic/table/dataTable.ts";
import { keyOf } from "../../logic/table/rowKeys.ts";
import type { Column, DataTable } from "../../types/dataTable.ts";
import { CellView } from "./CellView.tsx";
import { focusable, isLarge, useRowWindow } from "./rowWindow.ts";

interface Props {
  table: DataTable;
  caption: string;
  rows: readonly Row[];
}

/** Without priorities, a card shows this many columns at once. */
const FEW = 4;

export function Cards({ table, caption, rows }: Props) {
  const { box, boxProps, kept } = useRowWindow(rows);
  const fields = useMemo(() => fieldsOf(table.columns), [table]);
  // A card that leaves the view is opened again when it comes back.
  const [opened] = useState(() => new WeakSet<Row>());
  const cardOf = (row: Row) => <Card key={keyOf(row)} fields={fields} row={row} opened={opened} />;
  if (!isLarge(table))
    return (
      <ul>
        {rows.map((row, index) => (
          <CardItem key={keyOf(row)} index={index}>
            {cardOf(row)}
          </CardItem>
        ))}
      </ul>
    );
  return (
    <section
      {...boxProps}
      aria-label={`Rows of ${caption}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
      tabIndex={0}
      className="h-[70vh] overflow-y-auto rounded-md border border-edge p-1.5"
    >
      <Virtualizer as="ul" item={CardItem} scrollRef={box} keepMounted={kept} data={rows}>
        {cardOf}
      </Virtualizer>
    </section>
  );
}

type ItemProps = Omit<CustomItemComponentProps, "style"> & Partial<CustomItemComponentProps>;

const CardItem = ({ index, children, ...placed }: ItemProps) => (
  <li {...focusable(placed)} data-index={index}>
    {children}
  </li>
);

interface CardFields {
  picture: Column | undefined;
  /** Always shown. */
  first: readonly Column[];
  /** Shown in an opened card. */
  later: readonly Column[];
}

interface CardProps {
  fields: CardFields;
  row: Row;
  opened: WeakSet<Row>;
}

const Card = memo(function Card({ fields: { picture, first, later }, row, opened }: CardProps) {
  const filled = later.filter(({ key }) => cellOf(row, key) !== null);
  return (
    <div className="mb-1.5 flex min-w-0 gap-3 rounded-md border border-edge bg-raised p-2.5">
      {picture && <CellView column={picture} row={row} />}
      <div className="min-w-0 flex-1">
        <Fields columns={first} row={row} />
        {filled.length > 0 && (
          <details
            open={opened.has(row)}
            onToggle={({ currentTarget }) => (currentTarget.open ? opened.add(row) : opened.delete(row))}
          >
            <summary className="cursor-pointer text-dim">More</summary>
            <Fields columns={filled} row={row} />
          </details>
        )}
      </div>
    </div>
  );
});

function fieldsOf(columns: readonly Column[]): CardFields {
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

const Fields = ({ columns, row }: { columns: readonly Column[]; row: Row }) => (
  <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
    {columns.map((column) => (
      <Fragment key={column.key}>
        <dt className="text-dim">{column.label}</dt>
        <dd
          title={titleOf(column, row)}
          className={`cell-value min-w-0 ${column.truncate ? "truncate" : "wrap-anywhere"}`}
        >
          <CellView column={column} row={row} />
        </dd>
      </Fragment>
    ))}
  </dl>
);
