// The budgets of tokens and groups: what is used and what is left, this UTC day and this UTC month.
import { usePolled } from "../../../hooks/polled.ts";
import type { BudgetLine, Usage } from "../../../logic/pages/spend.ts";
import { cost } from "../../../logic/wording/statusAndAmounts.ts";
import { fetchBudgets } from "../../../state/operator/spend.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { CELL, CellName, EmptyNote, LoadingNote, PlainTable, ROW } from "../PlainTable.tsx";
import { UsageBar } from "../UsageBar.tsx";

const EVERY_MS = 30_000;

export function BudgetTable() {
  const { value: lines, trouble } = usePolled(fetchBudgets, EVERY_MS);
  return (
    <section aria-labelledby="budgets-title" className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2 id="budgets-title" className="font-semibold">
        Budgets
      </h2>
      <p className="max-w-measure text-dim text-small">
        Days and months are those of UTC. What active runs have reserved is not included. To change a budget, change its{" "}
        <a href="#tokens" className="underline">
          token or group
        </a>
        .
      </p>
      {trouble && <PageAlert>{trouble}</PageAlert>}
      {!lines && !trouble && <LoadingNote />}
      {lines &&
        (lines.length === 0 ? (
          <EmptyNote>No token and no group has a budget.</EmptyNote>
        ) : (
          <PlainTable label="Budgets" heads={["Name", "Kind", "Today", "This month"]}>
            {lines.map((line) => (
              <Row key={line.id} line={line} />
            ))}
          </PlainTable>
        ))}
    </section>
  );
}

const Row = ({ line: { name, kind, day, month } }: { line: BudgetLine }) => (
  <tr data-part="budget" className={ROW}>
    <th scope="row" className={`${CELL} text-start font-medium wrap-anywhere`}>
      {name}
    </th>
    <td className={`${CELL} text-dim`}>{kind}</td>
    <td className={`${CELL} w-1/3 narrow:w-auto`}>
      <CellName>Today:</CellName>
      <Used usage={day} />
    </td>
    <td className={`${CELL} w-1/3 narrow:w-auto`}>
      <CellName>This month:</CellName>
      <Used usage={month} />
    </td>
  </tr>
);

function Used({ usage }: { usage: Usage | undefined }) {
  if (!usage) return <span className="text-dim">no budget</span>;
  const { used, budget, left } = usage;
  return (
    <span className="grid gap-1.5">
      <span>
        {cost(used)} of {cost(budget)} used · {left > 0 ? `${cost(left)} left` : "nothing left"}
      </span>
      <UsageBar used={used} budget={budget} />
    </span>
  );
}
