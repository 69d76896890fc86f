// Goes between the versions of a question or an answer: ‹ 2/3 ›.
import { ChevronLeft, ChevronRight } from "lucide-react";
import { Button } from "../ui/Button.tsx";

interface Props {
  /** From 0. */
  index: number;
  count: number;
  onPrevious: () => void;
  onNext: () => void;
  /** Versions of what: "question", "answer". */
  label: string;
}

export function BranchSwitch({ index, count, onPrevious, onNext, label }: Props) {
  if (count < 2) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div
      role="group"
      aria-label={`Versions of the ${label}`}
      data-part="branches"
      className="flex items-center text-dim text-small"
    >
      <Button size="icon-small" aria-label="Previous version" disabled={index <= 0} onClick={onPrevious}>
        <ChevronLeft aria-hidden="true" />
      </Button>
      <span className="tabular-nums">
        {index + 1}
        <span aria-hidden="true">/</span>
        <span className="sr-only"> of </span>
        {count}
      </span>
      <Button size="icon-small" aria-label="Next version" disabled={index >= count - 1} onClick={onNext}>
        <ChevronRight aria-hidden="true" />
      </Button>
    </div>
  );
}
