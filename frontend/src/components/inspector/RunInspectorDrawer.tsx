// The run inspector, beside the chat in a wide window, otherwise as a sheet over it.
import { useEffect, useMemo, useRef, useState } from "react";
import { useMediaQuery, WIDE } from "../../hooks/mediaQuery.ts";
import { waterfall } from "../../logic/inspector/waterfall.ts";
import type { Answer } from "../../state/answer/answer.ts";
import { type ApiClient, useInspectedRun } from "../../state/inspectedRun.ts";
import type { RequestSettings } from "../../types/api.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { closingOnEscape } from "../ui/escapeKey.ts";
import { PagerButtons } from "../ui/PagerButtons.tsx";
import { InspectorHead } from "./InspectorHead.tsx";
import { type InspectorTab, InspectorTabs } from "./InspectorTabs.tsx";

interface Props {
  client: ApiClient;
  runId: string;
  /** The user's message. */
  title: string;
  /** The page's store of the answer, if it has one. */
  live: Answer | undefined;
  /** All runs of a continued answer, including `live`. */
  parts: readonly Answer[];
  onPart: (part: Answer) => void;
  onClose: () => void;
  /** Apply this run's settings to the next message. Undefined if no message can be sent. */
  onUse: ((settings: Partial<RequestSettings>) => void) | undefined;
}

interface TabProps {
  tab: InspectorTab;
  onTab: (tab: InspectorTab) => void;
}

export default function RunInspectorDrawer(props: Props) {
  const isWide = useMediaQuery(WIDE);
  // State of the drawer: the selected tab stays when the window becomes narrower.
  const [tab, onTab] = useState<InspectorTab>("Timeline");
  if (isWide) return <Beside {...props} {...{ tab, onTab }} />;
  return (
    <Dialog open onClose={props.onClose} title="Run details" titleHidden place="right">
      <div data-part="inspector" className="flex min-h-0 flex-1 flex-col">
        <Inspector {...props} {...{ tab, onTab }} />
      </div>
    </Dialog>
  );
}

/** Takes the focus when opened and gives it back when closed, like the sheet. */
function Beside(props: Props & TabProps) {
  const { onClose } = props;
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.focus({ preventScroll: true });
    return () => {
      const active = document.activeElement;
      if (before instanceof HTMLElement && (active === null || active === document.body)) before.focus();
    };
  }, []);
  return (
    <aside
      ref={box}
      tabIndex={-1}
      aria-label="Run details"
      data-part="inspector"
      onKeyDown={closingOnEscape(onClose)}
      className="flex h-full min-h-0 w-details shrink-0 flex-col overflow-hidden border-edge border-s bg-ground outline-none"
    >
      <Inspector {...props} />
    </aside>
  );
}

function Inspector({ client, runId, title, live, parts, onPart, onClose, onUse, tab, onTab }: Props & TabProps) {
  const seen = useInspectedRun(client, runId, live);
  const { trace, record, events, now } = seen;
  const fall = useMemo(() => waterfall({ trace, record, events, now }), [trace, record, events, now]);
  return (
    <>
      <InspectorHead {...{ client, runId, title, seen, onClose, onUse }}>
        {live && parts.length > 1 && (
          <PagerButtons
            index={parts.indexOf(live)}
            count={parts.length}
            onGo={(at) => onPart(parts[at] ?? live)}
            label="Parts of the answer"
            one="part"
            part="parts"
            spelled
          />
        )}
      </InspectorHead>
      <InspectorTabs key={runId} seen={seen} fall={fall} tab={tab} onTab={onTab} />
    </>
  );
}
