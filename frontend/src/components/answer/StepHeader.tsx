// A stop on the line: its lamp, its sentence, and the button that opens its panel.
import { ChevronRight } from "lucide-react";
import { type ReactNode, useId, useRef } from "react";
import type { Lamp as LampName, Stop } from "../../logic/answer/stops.ts";
import { CLIPPED, Collapsible } from "../ui/Collapsible.tsx";
import { Lamp } from "../ui/Lamp.tsx";

/** Draws the line behind the lamps, solid up to the current stop. */
export const ROW =
  "relative flow-root min-w-0 pb-3.5 ps-7 before:absolute before:top-4.5 before:-bottom-0.5 before:start-[5.25px] before:border-edge before:border-s-[1.5px]";

interface RowProps {
  kind: Stop["kind"] | "connection" | "silence";
  lamp: LampName;
  children: ReactNode;
}

/** A stop without a panel. The line below it is dotted while the stop is running. */
export function StepRow({ kind, lamp, children }: RowProps) {
  return (
    <li
      className={`${ROW} ${lamp === "running" ? "before:border-edge-strong before:border-dotted" : ""}`}
      data-part="stop"
      data-kind={kind}
      data-lamp={lamp}
    >
      <StepLamp lamp={lamp} />
      <p className="min-h-5 tabular-nums">{children}</p>
    </li>
  );
}

export const StepLamp = ({ lamp }: { lamp: LampName }) => (
  <span className="absolute top-1 start-0 flex">
    <Lamp lamp={lamp} />
  </span>
);

interface HeadProps {
  id: string;
  kind: Stop["kind"];
  lamp: LampName;
  title: ReactNode;
  /** What is shown even while the panel is closed. */
  notice?: ReactNode;
  /** A button at the end of the line. */
  action?: ReactNode;
  open: boolean;
  onToggle: (id: string, open: boolean) => void;
  children: ReactNode;
}

export function StepHeader({ id, kind, lamp, title, notice, action, open, onToggle, children }: HeadProps) {
  const body = useId();
  // The panel's content is rendered when it is first opened. After that it stays, so that closing can be animated.
  const wasOpen = useRef(open);
  wasOpen.current ||= open;
  return (
    <li className={ROW} data-part="stop" data-kind={kind} data-lamp={lamp}>
      <StepLamp lamp={lamp} />
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <StepButton open={open} controls={body} onPress={() => onToggle(id, !open)}>
            {title}
          </StepButton>
        </div>
        {action}
      </div>
      {notice && <StepNotice>{notice}</StepNotice>}
      <Collapsible id={body} open={open} className={CLIPPED}>
        {wasOpen.current && children}
      </Collapsible>
    </li>
  );
}

interface ButtonProps {
  open: boolean;
  /** The id of the panel. */
  controls: string;
  onPress: () => void;
  children: ReactNode;
}

export const StepButton = ({ open, controls, onPress, children }: ButtonProps) => (
  <button
    type="button"
    className="group/head relative -mx-1.5 -my-0.5 narrow:-my-1.5 narrow:py-1.5 flex w-[calc(100%+0.75rem)] cursor-pointer items-start gap-3 rounded-sm px-1.5 py-0.5 text-start tabular-nums transition-colors hover:bg-sunken"
    aria-expanded={open}
    aria-controls={controls}
    onClick={onPress}
  >
    <span className="min-w-0 flex-1">{children}</span>
    <ChevronRight
      aria-hidden="true"
      className="mt-0.5 size-4 shrink-0 text-dim transition-transform group-aria-expanded/head:rotate-90"
    />
  </button>
);

export const StepNotice = ({ children }: { children: ReactNode }) => (
  <p className="text-dim text-small" data-part="notice">
    {children}
  </p>
);

/** Less important text after the sentence. */
export const Aside = ({ children }: { children: ReactNode }) => (
  <span className="text-dim">
    {" "}
    · <span className="whitespace-nowrap">{children}</span>
  </span>
);
