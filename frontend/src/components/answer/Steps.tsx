// The steps before a text of the answer. Once they are finished and many, they fold into one row.
import { memo, type ReactNode, useId, useRef } from "react";
import { callsIn, type Step, stepsLamp, summaryOf } from "../../logic/answer/stepSummary.ts";
import { Collapsible } from "../ui/Collapsible.tsx";
import { useToolTitle } from "../ui/Tools.tsx";
import { FailedCalls } from "./failure/FailedCalls.tsx";
import { Aside, ROW, StepButton, StepLamp, StepNotice } from "./StepHeader.tsx";

/** Leaves room for the focus ring and the hover background. */
const CLIPPED = "overflow-clip [overflow-clip-margin:12px]";

/** Indents the steps behind their row and continues its line beside them. */
const INSIDE =
  "relative ps-6 before:absolute before:-top-0.5 before:-bottom-0.5 before:start-[5.25px] before:border-edge before:border-s-[1.5px] [&>li:last-child]:before:hidden";

interface Props {
  id: string;
  steps: readonly Step[];
  /** Notices of the searches that no earlier step has shown. */
  notices: readonly string[];
  /** The steps are finished and too many to show separately. */
  isLong: boolean;
  open: boolean;
  /** The user has opened or closed the row, so failures have been seen. */
  touched: boolean;
  onToggle: (id: string, open: boolean) => void;
  /** The rows of the steps. */
  children: ReactNode;
}

/** Folding does not move the rows in the component tree, so they keep their state. */
export function Steps({ id, steps, notices, isLong, open, touched, onToggle, children }: Props) {
  const body = useId();
  const isOpen = !isLong || open;
  // Steps that were never visible are not rendered.
  const wasOpen = useRef(isOpen);
  wasOpen.current ||= isOpen;
  return (
    <li className="min-w-0" data-part="steps">
      <Collapsible open={isLong} className={isLong ? CLIPPED : ""}>
        {isLong && <StepsHeader {...{ id, body, steps, notices, open, touched, onToggle }} />}
      </Collapsible>
      <Collapsible id={body} open={isOpen} className={isLong ? CLIPPED : ""}>
        {/* Steps that contain the focus do not fold automatically. */}
        <ol className={isLong ? INSIDE : ""} onFocus={isLong ? undefined : () => onToggle(id, true)}>
          {wasOpen.current && children}
        </ol>
      </Collapsible>
    </li>
  );
}

type HeadProps = Omit<Props, "isLong" | "children"> & { body: string };

const StepsHeader = memo(function StepsHead({ id, body, steps, notices, open, touched, onToggle }: HeadProps) {
  const { done, failed, others, took } = summaryOf(steps, useToolTitle());
  const lamp = stepsLamp(steps, touched);
  const [first = "Steps", ...more] = done;
  return (
    <div className={ROW} data-part="stop" data-kind="steps" data-lamp={lamp}>
      <StepLamp lamp={lamp} />
      <StepButton open={open} controls={body} onPress={() => onToggle(id, !open)}>
        <span className="whitespace-nowrap">{first}</span>
        {more.map((words) => (
          <Aside key={words}>{words}</Aside>
        ))}
        <FailedCalls failed={failed} of={callsIn(steps).length} touched={touched} />
        {[...others, took].filter(Boolean).map((words) => (
          <Aside key={words}>{words}</Aside>
        ))}
      </StepButton>
      {!open && notices.map((notice) => <StepNotice key={notice}>{notice}</StepNotice>)}
    </div>
  );
}, isSame);

/** Unchanged steps consist of the same objects, so a token of the answer does not render their row again. */
function isSame(before: HeadProps, after: HeadProps): boolean {
  if (before.open !== after.open || before.touched !== after.touched) return false;
  const [old, now] = [callsIn(before.steps), callsIn(after.steps)];
  if (before.notices.join() !== after.notices.join()) return false;
  return old.length === now.length && old.every((call, index) => call === now[index]);
}
