// Columns side by side. They scroll horizontally in one box, and their heads stay visible above them.
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useVariantKeys } from "../../hooks/variantKeys.ts";
import { labelText } from "../../logic/models/modelLabels.ts";
import { viewedAnswersOf } from "../../state/chat/viewedAnswers.ts";
import { Button } from "../ui/Button.tsx";
import { ColumnBody } from "./ColumnBody.tsx";
import { ColumnName } from "./ColumnName.tsx";
import { ColumnStop } from "./ColumnStop.tsx";
import type { Column, ComparedProps } from "./columns.ts";
import { useHorizontalScroll } from "./horizontalScroll.ts";

const ROW = "grid grid-flow-col auto-cols-[minmax(21rem,1fr)] gap-4";

export function ColumnRow({ columns, ...compared }: ComparedProps & { columns: readonly Column[] }) {
  const { heads, body, more, step, show } = useHorizontalScroll();
  useVariantKeys(compared.chat, columns[0]?.part.parent ?? null, (index) => {
    const column = columns[index];
    if (!column) return;
    viewedAnswersOf(compared.chat).view(column.part);
    show(index);
    body.current?.querySelectorAll<HTMLElement>("[data-part=column]")[index]?.focus({ preventScroll: true });
  });
  return (
    <div className="relative" data-part="columns">
      <div className="sticky top-0 z-10 bg-ground py-1.5">
        <div ref={heads} className={`${ROW} overflow-x-hidden`}>
          {columns.map((column, index) => (
            <div
              key={column.slot}
              className="flex h-8 min-w-0 items-center gap-2 px-3 text-small data-cut:opacity-0"
              title={column.model}
            >
              <h2 className="flex min-w-0 flex-1 items-center gap-2">
                <ColumnName {...column} />
              </h2>
              <ColumnStop {...column} onFocus={() => show(index)} />
            </div>
          ))}
        </div>
        <More side="start" shown={more.before} onStep={step} />
        <More side="end" shown={more.after} onStep={step} />
      </div>
      <section
        ref={body}
        aria-label="Answers side by side"
        tabIndex={more.before || more.after ? 0 : undefined}
        className="snap-x snap-proximity overflow-x-auto rounded-md pb-2"
      >
        <ol className={ROW} aria-label="Answers">
          {columns.map((column) => (
            <li
              key={column.slot}
              data-part="column"
              tabIndex={-1}
              data-model={column.model}
              data-chosen={column.part.key === compared.chosen}
              aria-label={labelText(column.label)}
              className="flex min-w-0 snap-start flex-col rounded-md border border-edge bg-raised p-3 data-[chosen=true]:border-edge-strong"
            >
              <ColumnBody {...column} {...compared} />
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}

interface MoreProps {
  side: "start" | "end";
  shown: boolean;
  onStep: (by: 1 | -1) => void;
}

const FADES = {
  start: "start-0 justify-start bg-linear-to-r",
  end: "end-0 justify-end bg-linear-to-l",
} as const;

/** A button over the faded edge, if there are more columns on this side. */
function More({ side, shown, onStep }: MoreProps) {
  if (!shown) return null;
  const Sign = side === "start" ? ChevronLeft : ChevronRight;
  return (
    <div
      className={`pointer-events-none absolute inset-y-0 flex w-24 items-center from-40% from-ground to-transparent ${FADES[side]}`}
    >
      <Button
        look="outline"
        size="icon"
        className="pointer-events-auto"
        aria-label={side === "start" ? "Previous column" : "Next column"}
        onClick={() => onStep(side === "start" ? -1 : 1)}
      >
        <Sign aria-hidden="true" />
      </Button>
    </div>
  );
}
