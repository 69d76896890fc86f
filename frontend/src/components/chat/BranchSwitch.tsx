// Goes between the versions of a question or an answer: ‹ 2/3 ›.
import { ChevronLeft, ChevronRight } from "lucide-react";
import { Button, type ButtonProps } from "../ui/Button.tsx";

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
      <Way aria-label="Previous version" isEnd={index <= 0} onClick={onPrevious}>
        <ChevronLeft aria-hidden="true" />
      </Way>
      <span className="tabular-nums">
        {index + 1}
        <span aria-hidden="true">/</span>
        <span className="sr-only"> of </span>
        {count}
      </span>
      <Way aria-label="Next version" isEnd={index >= count - 1} onClick={onNext}>
        <ChevronRight aria-hidden="true" />
      </Way>
    </div>
  );
}

interface WayProps extends ButtonProps {
  isEnd: boolean;
  onClick: () => void;
}

/** At an end it is not `disabled`: that would take the focus from who came there by keyboard. */
function Way({ isEnd, onClick, ...rest }: WayProps) {
  return (
    <Button
      size="icon-small"
      aria-disabled={isEnd}
      className="aria-disabled:cursor-default aria-disabled:opacity-45"
      onClick={() => !isEnd && onClick()}
      {...rest}
    />
  );
}
