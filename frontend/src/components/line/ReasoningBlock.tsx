// One phase of the model's reasoning: open while it runs, folded after, and as the reader wants it from then on.
import { memo, useEffect, useRef } from "react";
import { thoughtMs } from "../run/view.ts";
import { thoughtFor } from "../run/words.ts";
import type { ReasoningItem } from "../types/models.ts";
import { Prose } from "./prose/Prose.tsx";
import { StopHead } from "./StopHead.tsx";

const NO_SOURCES = new Map<number, never>();

export const ReasoningBlock = memo(function ReasoningBlock({ item }: { item: ReasoningItem }) {
  const hidden = item.hidden && !item.text.trim();
  const title = (
    <>
      {item.running ? "Thinking" : thoughtFor(thoughtMs(item))}
      {hidden && <span className="dim"> · hidden by the provider</span>}
    </>
  );
  const lamp = item.running ? "running" : "done";
  if (hidden || !item.text.trim()) return <StopHead lamp={lamp} title={title} auto={false} />;
  return (
    <StopHead lamp={lamp} title={title} auto={item.running}>
      <ReasoningText item={item} />
    </StopHead>
  );
});

/** Long reasoning scrolls in a box of its own, which follows the end while the reader is there. */
function ReasoningText({ item }: { item: ReasoningItem }) {
  const box = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text is what there is to follow.
  useEffect(() => {
    if (atEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [item.text]);
  return (
    <section
      ref={box}
      className="reasoning"
      aria-label="Reasoning"
      // A box that scrolls has to be reachable by keyboard.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      <Prose text={item.text} sources={NO_SOURCES} />
    </section>
  );
}
