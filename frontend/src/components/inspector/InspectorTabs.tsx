// The tabs of the inspector: timeline, request, events.
import { Tabs } from "@base-ui/react/tabs";
import { factsOf, statusOf, troubleOf, warningsIn } from "../../logic/inspector/runFacts.ts";
import type { Waterfall } from "../../logic/inspector/waterfall.ts";
import type { InspectedRunState } from "../../state/inspectedRun.ts";
import { Button } from "../ui/Button.tsx";
import { EventList } from "./EventList.tsx";
import { FactTable } from "./FactTable.tsx";
import { Requests } from "./Requests.tsx";
import { Timeline } from "./Timeline.tsx";

interface Props {
  seen: InspectedRunState & { retry: () => void };
  fall: Waterfall;
  tab: InspectorTab;
  onTab: (tab: InspectorTab) => void;
}

const TABS = ["Timeline", "Request", "Events"] as const;
export type InspectorTab = (typeof TABS)[number];
const TAB =
  "h-8 cursor-pointer border-transparent border-b-2 px-2 text-dim text-small -outline-offset-2 hover:text-ink data-active:border-accent data-active:text-ink";
const PANEL = "min-h-0 flex-1 overflow-y-auto px-4 py-3 outline-none focus-visible:outline-2 -outline-offset-2";

const clock = (ms: number): string =>
  new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function InspectorTabs({ seen, fall, tab, onTab }: Props) {
  const { record, events } = seen;
  return (
    <Tabs.Root value={tab} onValueChange={onTab} className="flex min-h-0 flex-1 flex-col">
      <Tabs.List className="flex shrink-0 gap-1 border-edge border-b px-2" aria-label="Run details sections">
        {TABS.map((name) => (
          <Tabs.Tab key={name} value={name} className={TAB}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="Timeline" className={PANEL}>
        <Troubles seen={seen} />
        <FactTable facts={factsOf(seen, clock)} />
        <h3 className="sr-only">Timeline</h3>
        <div className="pt-4">
          <Timeline fall={fall} record={record} events={events} />
        </div>
      </Tabs.Panel>
      <Tabs.Panel value="Request" className={PANEL}>
        <Requests record={record} missing={recordSentence(seen) ?? "No request recorded."} />
      </Tabs.Panel>
      <Tabs.Panel value="Events" className="flex min-h-0 flex-1 flex-col pt-3 outline-none">
        <EventList events={events} from={fall.from} missing={eventsSentence(seen) ?? "No events yet."} />
      </Tabs.Panel>
    </Tabs.Root>
  );
}

function recordSentence({ recordIs, trouble }: InspectedRunState): string | undefined {
  const sentences: Record<InspectedRunState["recordIs"], string | undefined> = {
    asked: "Loading run details…",
    known: undefined,
    gone: "This run is no longer on the server. You see what this page still has.",
    failed: `Run details could not be loaded. ${trouble ?? ""}`.trim(),
  };
  return sentences[recordIs];
}

function eventsSentence({ eventsAre }: InspectedRunState): string | undefined {
  const sentences: Record<InspectedRunState["eventsAre"], string | undefined> = {
    fetching: "Loading events…",
    here: undefined,
    failed: "The events of this run are not available.",
  };
  return sentences[eventsAre];
}

/** Missing data, the error and the warnings, each once. */
function Troubles({ seen }: { seen: Props["seen"] }) {
  const trouble = troubleOf(seen);
  const isCut = statusOf(seen).lamp === "cut";
  const missing = [recordSentence(seen), eventsSentence(seen)].filter((sentence) => sentence !== undefined);
  const isStuck = seen.recordIs === "failed" || (seen.eventsAre === "failed" && seen.recordIs !== "gone");
  const warnings = warningsIn(seen.trace, trouble);
  return (
    <div className="flex flex-col gap-2 not-empty:pb-3">
      {missing.length > 0 && (
        <p role="status" className="text-dim text-small">
          {missing.join(" ")}{" "}
          {isStuck && (
            <Button look="outline" className="h-6 text-tiny" onClick={seen.retry}>
              Try again
            </Button>
          )}
        </p>
      )}
      {trouble && (
        <p
          data-part="trouble"
          className={`rounded-md border px-3 py-1.5 text-small ${isCut ? "border-edge bg-amber-wash" : "border-red-edge bg-red-wash text-red-ink"}`}
        >
          {trouble.message} {trouble.code && <code className="font-mono text-tiny">{trouble.code}</code>}
        </p>
      )}
      {warnings.map(({ id, message, code }) => (
        <p key={id} data-part="warning" className="rounded-md bg-amber-wash px-3 py-1.5 text-small">
          {message} {code && <code className="font-mono text-dim text-tiny">{code}</code>}
        </p>
      ))}
    </div>
  );
}
