// One phase of the model's reasoning: open while it is the one in use, folded after, and as the reader wants it from then on.
import { memo, useLayoutEffect, useRef, useState } from "react";
import { tookMs } from "../../run/view.ts";
import { thoughtFor } from "../../run/words.ts";
import type { ReasoningItem } from "../../types/models.ts";
import { Prose } from "../prose/Prose.tsx";
import { Seconds } from "./Seconds.tsx";
import { Aside, StopHead, StopRow } from "./StopHead.tsx";

const NO_SOURCES = new Map<number, never>();
const NEAR_PX = 24;

interface Props {
  item: ReasoningItem;
  open: boolean;
  onToggle: (id: string, open: boolean) => void;
}

export const ReasoningBlock = memo(function ReasoningBlock({ item, open, onToggle }: Props) {
  const lamp = item.running ? "running" : "done";
  const isEmpty = !/\S/.test(item.text);
  const title = (
    <>
      {item.running ? <Thinking item={item} /> : thoughtFor(tookMs(item))}
      {item.hidden && isEmpty && <Aside>hidden by the provider</Aside>}
    </>
  );
  if (isEmpty)
    return (
      <StopRow kind="reasoning" lamp={lamp}>
        {title}
      </StopRow>
    );
  return (
    <StopHead id={item.id} kind="reasoning" lamp={lamp} title={title} open={open} onToggle={onToggle}>
      <ReasoningText text={item.text} running={item.running} />
    </StopHead>
  );
});

/** What the server has told of the time, and what has passed here since it was first shown. */
function Thinking({ item }: { item: ReasoningItem }) {
  const [since] = useState(() => performance.now() - (tookMs(item) ?? 0));
  return (
    <>
      Thinking
      <Seconds since={since} />
    </>
  );
}

/** Long reasoning scrolls in a box of its own, which follows the end while it grows and the reader is there. */
function ReasoningText({ text, running }: { text: string; running: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text is what there is to follow.
  useLayoutEffect(() => {
    if (running && atEnd.current) box.current?.scrollTo?.({ top: box.current.scrollHeight });
  }, [text, running]);
  return (
    // Not a section: each would be a landmark, and an answer may have many.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div
      role="group"
      ref={box}
      data-part="reasoning"
      className="mt-1.5 max-h-80 overflow-y-auto pr-2 text-dim [&_.prose]:text-small"
      aria-label="Reasoning"
      // A box that scrolls has to be reachable by keyboard.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      <Prose text={text} sources={NO_SOURCES} settled={!running} />
    </div>
  );
}
