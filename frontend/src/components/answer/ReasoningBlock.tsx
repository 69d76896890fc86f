// The reasoning between two visible steps.
import { memo, useLayoutEffect, useRef, useState } from "react";
import { type Stop, totalTimeMs } from "../../logic/answer/stops.ts";
import { thoughtFor } from "../../logic/wording/statusAndAmounts.ts";
import type { ReasoningItem } from "../../types/models.ts";
import { Prose } from "../markdown/Prose.tsx";
import { Seconds } from "./Seconds.tsx";
import { Aside, StepHeader, StepRow } from "./StepHeader.tsx";

const NO_SOURCES = new Map<number, never>();
const NEAR_PX = 24;

type ReasoningStop = Extract<Stop, { kind: "reasoning" }>;

interface Props {
  stop: ReasoningStop;
  open: boolean;
  onToggle: (id: string, open: boolean) => void;
}

export const ReasoningBlock = memo(function ReasoningBlock({ stop, open, onToggle }: Props) {
  const { id, lamp, items } = stop;
  const isRunning = lamp === "running";
  const texts = items.map(({ text }) => text).filter((text) => /\S/.test(text));
  const title = (
    <>
      {isRunning ? <Thinking items={items} /> : thoughtFor(totalTimeMs(items))}
      {texts.length === 0 && items.some(({ hidden }) => hidden) && <Aside>not shown by the provider</Aside>}
    </>
  );
  if (texts.length === 0)
    return (
      <StepRow kind="reasoning" lamp={lamp}>
        {title}
      </StepRow>
    );
  return (
    <StepHeader id={id} kind="reasoning" lamp={lamp} title={title} open={open} onToggle={onToggle}>
      <ReasoningText texts={texts} running={isRunning} />
    </StepHeader>
  );
}, isSame);

/** Unchanged reasoning consists of the same objects, so a token of the answer does not render it again. */
function isSame(before: Props, after: Props): boolean {
  const [{ stop: old }, { stop }] = [before, after];
  if (before.open !== after.open || old.lamp !== stop.lamp || old.items.length !== stop.items.length) return false;
  return old.items.every((item, index) => item === stop.items[index]);
}

/** Counts on from the duration that the server has reported. */
function Thinking({ items }: { items: readonly ReasoningItem[] }) {
  const [since] = useState(() => performance.now() - (totalTimeMs(items) ?? 0));
  return (
    <>
      Thinking
      <Seconds since={since} />
    </>
  );
}

/**
 * Long reasoning scrolls in a separate box. The box follows the end while the text grows and the user is at the end.
 */
function ReasoningText({ texts, running }: { texts: readonly string[]; running: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text is what there is to follow.
  useLayoutEffect(() => {
    if (running && atEnd.current) box.current?.scrollTo?.({ top: box.current.scrollHeight });
  }, [texts, running]);
  return (
    // Not a section: each section would be a landmark, and an answer may have many.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div
      role="group"
      ref={box}
      data-part="reasoning"
      className="mt-1.5 max-h-80 overflow-y-auto pe-2 text-dim [&_.prose+.prose]:mt-3 [&_.prose]:text-small"
      aria-label="Reasoning"
      // A scrollable box must be reachable by keyboard.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      {texts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: texts only ever grow at the end.
        <Prose key={index} text={text} sources={NO_SOURCES} settled={!running || index < texts.length - 1} />
      ))}
    </div>
  );
}
