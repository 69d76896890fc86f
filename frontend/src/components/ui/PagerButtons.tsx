// Previous and next buttons with a position: ‹ 2/3 ›.
import { ChevronLeft, ChevronRight } from "lucide-react";
import { Button, type ButtonProps } from "./Button.tsx";

interface Props {
  /** Zero-based. */
  index: number;
  count: number;
  onGo: (index: number) => void;
  /** The accessible name: "Versions of the answer". */
  label: string;
  /** The noun for one item: "version". */
  one: string;
  part: string;
  /** "Part 2 of 3" instead of "2/3". */
  spelled?: boolean;
}

export function PagerButtons({ index, count, onGo, label, one, part, spelled = false }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div role="group" aria-label={label} data-part={part} className="flex items-center text-dim text-small">
      <PagerButton aria-label={`Previous ${one}`} isEnd={index <= 0} onClick={() => onGo(index - 1)}>
        <ChevronLeft aria-hidden="true" />
      </PagerButton>
      <span className="tabular-nums">
        {spelled ? (
          `${one.charAt(0).toUpperCase()}${one.slice(1)} ${index + 1} of ${count}`
        ) : (
          <>
            {index + 1}
            <span aria-hidden="true">/</span>
            <span className="sr-only"> of </span>
            {count}
          </>
        )}
      </span>
      <PagerButton aria-label={`Next ${one}`} isEnd={index >= count - 1} onClick={() => onGo(index + 1)}>
        <ChevronRight aria-hidden="true" />
      </PagerButton>
    </div>
  );
}

interface WayProps extends ButtonProps {
  isEnd: boolean;
  onClick: () => void;
}

/** Not `disabled` at an end, which would lose the keyboard focus. */
function PagerButton({ isEnd, onClick, ...rest }: WayProps) {
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
