// The steps before a text of the answer: rows on the line, which fold into one row once they are finished and many.
import { memo, type ReactNode, useId, useRef } from "react";
import { callsIn, type Step, stepsLamp, summaryOf } from "../../run/answer/stepSummary.ts";
import { Fold } from "../ui/Collapsible.tsx";
import { useToolTitle } from "../ui/ToolTitles.tsx";
import { Failed } from "./failure/FailedCalls.tsx";
import { Aside, Notice, ROW, StopButton, StopLamp } from "./StepHeader.tsx";

/** Leaves room for what marks a row that is hovered or has the focus. */
const CLIPPED = "overflow-clip [overflow-clip-margin:12px]";

/** Behind the row that they belong to, whose line goes on beside them. */
const INSIDE =
  "relative ps-6 before:absolute before:-top-0.5 before:-bottom-0.5 before:start-[5.25px] before:border-edge before:border-s-[1.5px] [&>li:last-child]:before:hidden";

interface Props {
  id: string;
  steps: readonly Step[];
  /** What its searches say about the installation, if no step before it has said so. */
  notices: readonly string[];
  /** They are finished and many. */
  isLong: boolean;
  open: boolean;
  /** The reader has opened or closed it by hand: what failed was seen. */
  looked: boolean;
  onToggle: (id: string, open: boolean) => void;
  /** The rows. */
  children: ReactNode;
}

/** The rows stay where they are in the tree when they fold, so that nothing of theirs is lost. */
export function Steps({ id, steps, notices, isLong, open, looked, onToggle, children }: Props) {
  const body = useId();
  const isOpen = !isLong || open;
  // What nobody has seen yet is not made.
  const wasOpen = useRef(isOpen);
  wasOpen.current ||= isOpen;
  return (
    <li className="min-w-0" data-part="steps">
      <Fold open={isLong} className={isLong ? CLIPPED : ""}>
        {isLong && <StepsHead {...{ id, body, steps, notices, open, looked, onToggle }} />}
      </Fold>
      <Fold id={body} open={isOpen} className={isLong ? CLIPPED : ""}>
        {/* Where the reader is, nothing folds by itself. */}
        <ol className={isLong ? INSIDE : ""} onFocus={isLong ? undefined : () => onToggle(id, true)}>
          {wasOpen.current && children}
        </ol>
      </Fold>
    </li>
  );
}

type HeadProps = Omit<Props, "isLong" | "children"> & { body: string };

const StepsHead = memo(function StepsHead({ id, body, steps, notices, open, looked, onToggle }: HeadProps) {
  const { done, failed, others, took } = summaryOf(steps, useToolTitle());
  const lamp = stepsLamp(steps, looked);
  const [first = "Steps", ...more] = done;
  return (
    <div className={ROW} data-part="stop" data-kind="steps" data-lamp={lamp}>
      <StopLamp lamp={lamp} />
      <StopButton open={open} controls={body} onPress={() => onToggle(id, !open)}>
        <span className="whitespace-nowrap">{first}</span>
        {more.map((words) => (
          <Aside key={words}>{words}</Aside>
        ))}
        <Failed failed={failed} of={callsIn(steps).length} looked={looked} />
        {[...others, took].filter(Boolean).map((words) => (
          <Aside key={words}>{words}</Aside>
        ))}
      </StopButton>
      {!open && notices.map((notice) => <Notice key={notice}>{notice}</Notice>)}
    </div>
  );
}, isSame);

/** Steps that stand are made of the same objects: a token of the answer does not render their row again. */
function isSame(before: HeadProps, after: HeadProps): boolean {
  if (before.open !== after.open || before.looked !== after.looked) return false;
  const [old, now] = [callsIn(before.steps), callsIn(after.steps)];
  if (before.notices.join() !== after.notices.join()) return false;
  return old.length === now.length && old.every((call, index) => call === now[index]);
}
