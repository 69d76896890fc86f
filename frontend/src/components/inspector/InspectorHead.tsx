// The head of the inspector: the run's title, status and most important figures, and its buttons.
import { ClipboardCopy, Download, Hash, SlidersHorizontal, X } from "lucide-react";
import type { ReactNode } from "react";
import { useTemporaryMessage } from "../../hooks/temporaryMessage.ts";
import { exportText, isSimulated, statusOf, totalMs } from "../../logic/inspector/runFacts.ts";
import { costText, duration } from "../../logic/wording/statusAndAmounts.ts";
import { saveFile } from "../../state/download.ts";
import { type ApiClient, type InspectedRunState, restoredSettings } from "../../state/inspectedRun.ts";
import type { RequestSettings, RunRecord } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { Copy } from "../ui/Copy.tsx";
import { DOT, DottedList } from "../ui/DottedList.tsx";
import { Lamp } from "../ui/Lamp.tsx";
import { Tip } from "../ui/Tip.tsx";

interface Props {
  client: ApiClient;
  runId: string;
  title: string;
  seen: InspectedRunState;
  onClose: () => void;
  onUse: ((settings: Partial<RequestSettings>) => void) | undefined;
  /** Below the title: links to other runs of the same answer. */
  children?: ReactNode;
}

export function InspectorHead({ client, runId, title, seen, onClose, onUse, children }: Props) {
  const { record, trace, events } = seen;
  const text = () => exportText({ runId, title, trace, record, events });
  return (
    <div className="border-edge border-b px-4 pt-3 pb-2">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h2 dir="auto" className="truncate font-semibold text-body">
            {title || "Run details"}
          </h2>
          <RunSummary seen={seen} title={title} />
        </div>
        <Tip label="Close">
          <Button size="icon-small" aria-label="Close" onClick={onClose}>
            <X aria-hidden="true" />
          </Button>
        </Tip>
      </div>
      {children && <div className="-ms-2 pt-1">{children}</div>}
      <div className="-ms-2 flex flex-wrap items-center gap-x-1 pt-1">
        <Copy text={text}>
          <ClipboardCopy aria-hidden="true" />
          Copy as JSON
        </Copy>
        <Button onClick={() => saveFile(`signalbox-run-${runId}.json`, "application/json", text())}>
          <Download aria-hidden="true" />
          Export
        </Button>
        {onUse && record && <UseSettingsButton client={client} record={record} onUse={onUse} />}
        <Tip label="Copy run ID">
          <Copy text={() => runId} aria-label="Copy run ID">
            <Hash aria-hidden="true" />
          </Copy>
        </Tip>
      </div>
    </div>
  );
}

/** The most important figures. */
function RunSummary({ seen, title }: { seen: InspectedRunState; title: string }) {
  const { lamp, label } = statusOf(seen);
  const { record, trace } = seen;
  const ms = totalMs(seen);
  const usd = record?.cost ?? trace?.end?.cost;
  const model = record?.model || trace?.model;
  const simulated = isSimulated(seen);
  const facts = [
    label,
    model !== title && model,
    ms !== undefined && duration(ms),
    usd !== undefined && costText(usd, { simulated, estimated: false }),
    simulated && "simulated",
  ];
  return (
    <p className="flex min-w-0 items-baseline gap-1.5 text-small tabular-nums" data-part="standing">
      <span className="flex translate-y-px">
        <Lamp lamp={lamp} />
      </span>
      <DottedList>
        {facts
          .filter((fact) => typeof fact === "string" && fact !== "")
          .map((fact) => (
            <span key={`${fact}`} className={`${DOT} wrap-anywhere not-first:text-dim`}>
              {fact}{" "}
            </span>
          ))}
      </DottedList>
    </p>
  );
}

function UseSettingsButton({
  client,
  record,
  onUse,
}: {
  client: ApiClient;
  record: RunRecord;
  onUse: NonNullable<Props["onUse"]>;
}) {
  const [message, showMessage] = useTemporaryMessage(2500);
  const use = async () => {
    const settings = await restoredSettings(client, record);
    if (settings) onUse(settings);
    showMessage(settings ? restoredText(settings, record) : "The tools could not be loaded");
  };
  return (
    <Button onClick={() => void use()}>
      <SlidersHorizontal aria-hidden="true" />
      {message ?? "Use these settings"}
    </Button>
  );
}

const restoredText = ({ system }: Partial<RequestSettings>, { conversationId }: RunRecord): string =>
  system === undefined && conversationId !== undefined
    ? "Settings applied, but the system prompt could not be loaded"
    : "Settings applied";
