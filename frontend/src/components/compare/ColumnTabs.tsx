// The columns of a comparison as tabs, each with a picture of its page and what it is doing.
import { Tabs } from "@base-ui/react/tabs";
import { useEffect } from "react";
import { useVariantKeys } from "../../hooks/variantKeys.ts";
import { variantStatus } from "../../logic/answer/variantStatus.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { viewedAnswersOf } from "../../state/chat/viewedAnswers.ts";
import { useStore, useStored } from "../../state/store.ts";
import { ColumnBody } from "./ColumnBody.tsx";
import { ColumnName } from "./ColumnName.tsx";
import { ColumnStop } from "./ColumnStop.tsx";
import type { Column, ComparedProps } from "./columns.ts";
import { Thumbnail } from "./Thumbnail.tsx";

/** Four tabs share the width of a phone, so all are visible. */
const TAB =
  "flex min-h-12 min-w-0 flex-1 items-center gap-2 border-transparent border-b-2 px-1.5 py-1 text-start text-tiny data-active:border-accent data-active:bg-sunken data-[many=true]:flex-col data-[many=true]:items-stretch data-[many=true]:gap-1 narrow:flex-col narrow:items-stretch narrow:gap-1";

interface Props extends ComparedProps {
  columns: readonly Column[];
  /** One of them writes files. */
  hasFiles: boolean;
}

export function ColumnTabs({ columns, hasFiles, ...compared }: Props) {
  const { chat } = compared;
  const viewed = viewedAnswersOf(chat);
  const { slots } = useStore(viewed);
  const question = columns[0]?.part.parent ?? null;
  const chosen = columns.find(({ part }) => part.key === compared.chosen) ?? columns[0];
  const column = columns.find(({ slot }) => slot === slots.get(question ?? "")) ?? chosen;
  const show = (next: Column | undefined) => next && viewed.view(next.part);
  useVariantKeys(chat, question, (index) => show(columns[index]));
  if (!column) return null;
  return (
    <Tabs.Root
      value={column.slot}
      onValueChange={(slot) => show(columns.find((one) => one.slot === slot))}
      data-part="columns"
      className="mx-auto max-w-3xl"
    >
      <Tabs.List
        activateOnFocus
        aria-label="Answers side by side"
        className="sticky top-0 z-10 flex border-edge border-b bg-ground narrow:-mx-3"
      >
        {columns.map((one) => (
          <Tabs.Tab key={one.slot} value={one.slot} title={one.model} data-many={columns.length > 2} className={TAB}>
            {hasFiles && <Thumbnail chat={chat} part={one.part} />}
            <TabText {...one} chat={chat} />
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

function TabText({ chat, ...column }: Column & { chat: Chat }) {
  const { answer } = column.part;
  // The status of a stored answer is known once its events are loaded.
  useEffect(() => chat.show(answer), [chat, answer]);
  const status = useStored(answer, ({ trace }) => variantStatus(trace));
  return (
    <span className="grid min-w-0 flex-1 gap-0.5">
      <span className="flex min-w-0 items-center gap-1">
        <ColumnName {...column} stacked />
      </span>
      <Status words={status} />
    </span>
  );
}

/** The size at the end grows, so it stays visible. */
function Status({ words }: { words: string }) {
  const at = words.lastIndexOf(" · ");
  const [before, size] = at < 0 ? [words, ""] : [words.slice(0, at), words.slice(at)];
  return (
    <span className="flex min-h-4 min-w-0 text-dim tabular-nums" data-part="variant-status" title={words}>
      <span className="truncate">{before}</span>
      <span className="shrink-0 whitespace-pre">{size}</span>
    </span>
  );
}
