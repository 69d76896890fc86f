// The columns of a comparison as tabs, for phones.
import { Tabs } from "@base-ui/react/tabs";
import { ColumnBody } from "./ColumnBody.tsx";
import { ColumnName } from "./ColumnName.tsx";
import { ColumnStop } from "./ColumnStop.tsx";
import type { Column, ComparedProps } from "./columns.ts";
import { useSelectedTab } from "./selectedTab.ts";

/** Four tabs share the width of a phone, so all are visible. */
const TAB =
  "flex h-12 min-w-0 flex-1 items-center gap-1 border-transparent border-b-2 px-1.5 text-tiny data-active:border-accent data-active:bg-sunken";

export function ColumnTabs({ columns, ...compared }: ComparedProps & { columns: readonly Column[] }) {
  const chosen = columns.find(({ part }) => part.key === compared.chosen) ?? columns[0];
  const [shown, show] = useSelectedTab(compared.chat, chosen?.part.parent ?? "");
  const column = columns.find(({ slot }) => slot === shown) ?? chosen;
  if (!column) return null;
  return (
    <Tabs.Root value={column.slot} onValueChange={show} data-part="columns">
      <Tabs.List
        activateOnFocus
        aria-label="Answers side by side"
        className="sticky top-0 z-10 -mx-3 flex border-edge border-b bg-ground"
      >
        {columns.map((one) => (
          <Tabs.Tab key={one.slot} value={one.slot} title={one.model} className={TAB}>
            <ColumnName {...one} stacked />
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel
        value={column.slot}
        data-part="column"
        data-model={column.model}
        data-chosen={column.part.key === compared.chosen}
        className="flex min-w-0 flex-col pt-3"
      >
        <div className="flex justify-end">
          <ColumnStop {...column} />
        </div>
        <ColumnBody key={column.part.key} {...column} {...compared} />
      </Tabs.Panel>
    </Tabs.Root>
  );
}
