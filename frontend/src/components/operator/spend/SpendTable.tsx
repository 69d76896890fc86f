// What runs cost, one row per user, group, model or day, and the total.
import { KEY_HEADS, rowName, shareText } from "../../../logic/pages/spend.ts";
import { cost, count } from "../../../logic/wording/statusAndAmounts.ts";
import type { Spend, SpendBy } from "../../../types/operator.ts";
import { AMOUNT, CELL, CellName, PlainTable, ROW } from "../PlainTable.tsx";

const AMOUNTS = ["Runs", "Cost", "Share", "Estimated part"] as const;

export function SpendTable({ by, spend }: { by: SpendBy; spend: Spend }) {
  const { rows, total } = spend;
  const amounts = (row: Spend["total"]) => [
    count(row.runs),
    cost(row.cost),
    shareText(row.cost, total.cost),
    row.estimated > 0 ? cost(row.estimated) : "",
  ];
  const lines = [
    ...rows.map((row) => ({ id: `row ${row.key}`, row, name: rowName(by, row), isTotal: false })),
    { id: "total", row: { ...total, key: "" }, name: "Total", isTotal: true },
  ];
  return (
    <PlainTable label="Costs" heads={[KEY_HEADS[by], ...AMOUNTS]} amounts={AMOUNTS}>
      {lines.map(({ id, row, name, isTotal }) => (
        <tr key={id} data-part="spend" className={`${ROW} ${isTotal ? "font-semibold" : ""}`}>
          <th scope="row" className={`${CELL} text-start wrap-anywhere ${isTotal ? "" : "font-medium"}`}>
            {name}
            {by === "owner" && row.key !== "" && row.key !== name && (
              <code className="ms-2 font-normal text-dim text-tiny narrow:block narrow:ms-0">{row.key}</code>
            )}
          </th>
          {amounts(row).map((words, index) => (
            <td
              key={AMOUNTS[index]}
              className={`${AMOUNT} ${words ? "narrow:me-3 narrow:inline-block" : "narrow:hidden"}`}
            >
              <CellName>{AMOUNTS[index]}:</CellName>
              {words}
            </td>
          ))}
        </tr>
      ))}
    </PlainTable>
  );
}
