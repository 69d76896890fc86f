// The header of the chat: model, settings, cost, and whether it is simulated.
import { Columns2, PanelLeft, SlidersHorizontal, SquarePen } from "lucide-react";
import type { ReactNode } from "react";
import type { ChatCost } from "../../logic/chat/chatCost.ts";
import { costText } from "../../logic/wording/statusAndAmounts.ts";
import { Button } from "../ui/Button.tsx";
import { Lamp } from "../ui/Lamp.tsx";
import { Tip } from "../ui/Tip.tsx";

const WOULD_COST =
  "This chat was simulated and cost nothing. With real models it would cost this much, including all versions.";

interface Props {
  /** The conversation's title. Empty for a new one. */
  title: string;
  /** The picker for one model, or for the compared models. */
  picker: ReactNode;
  comparing: boolean;
  onCompare: (on: boolean) => void;
  /** How many request settings differ from their defaults. */
  changed: number;
  onSettings: () => void;
  sidebarOpen: boolean;
  onSidebar: () => void;
  onNew: () => void;
  filesButton: ReactNode;
  /** The cost of all answers. Undefined if no cost is known. */
  total: ChatCost | undefined;
  simulated: boolean;
}

export function Header(props: Props) {
  const { picker, comparing, onCompare, changed, onSettings, sidebarOpen, onSidebar, onNew } = props;
  return (
    <header
      data-comparing={comparing}
      className="group/head flex min-h-12 items-center data-[comparing=true]:@max-4xl/main:flex-wrap gap-1.5 border-edge border-b px-3 py-2 text-small narrow:gap-1 narrow:px-2"
    >
      <h1 dir="auto" className="sr-only">
        {props.title || "New chat"}
      </h1>
      <Tip label={sidebarOpen ? "Hide conversations" : "Show conversations"}>
        <Button size="icon" aria-label="Conversations" aria-expanded={sidebarOpen} onClick={onSidebar}>
          <PanelLeft aria-hidden="true" />
        </Button>
      </Tip>
      {!sidebarOpen && (
        <Tip label="New chat">
          <Button size="icon" aria-label="New chat" onClick={onNew}>
            <SquarePen aria-hidden="true" />
          </Button>
        </Tip>
      )}
      {/* In a narrow window, several models get a separate row. */}
      <div className="min-w-0 flex-1 group-data-[comparing=true]/head:@max-4xl/main:order-last group-data-[comparing=true]/head:@max-4xl/main:basis-full">
        {picker}
      </div>
      {comparing && <span className="hidden flex-1 @max-4xl/main:block" />}
      <Tip label={comparing ? "Ask one model" : "Ask up to four models at once"}>
        <Button size="icon" aria-label="Compare models" aria-pressed={comparing} onClick={() => onCompare(!comparing)}>
          <Columns2 aria-hidden="true" />
        </Button>
      </Tip>
      <Button onClick={onSettings} aria-label={changed > 0 ? `Settings, ${changed} changed` : "Settings"}>
        <SlidersHorizontal aria-hidden="true" />
        <span className="@max-2xl/main:hidden">Settings</span>
        {changed > 0 && <span className="rounded-full bg-accent-wash px-1.5 text-accent text-tiny">{changed}</span>}
      </Button>
      {props.filesButton}
      <Total {...props} />
      {props.simulated && (
        <Tip label="No API key is set, so a built-in simulator answers in place of each model.">
          <span className="inline-flex items-center gap-1.5 px-1 text-lamp-blue" tabIndex={-1}>
            <Lamp lamp="blue" />
            <span className="@max-2xl/main:sr-only">simulated</span>
          </span>
        </Tip>
      )}
    </header>
  );
}

function Total({ total }: Props) {
  if (!total) return null;
  return (
    <Tip label={total.simulated ? WOULD_COST : "Total cost of this chat, including all versions."}>
      <span className="px-1 text-dim tabular-nums @max-md/main:hidden" data-part="total">
        {costText(total.usd, total)}
      </span>
    </Tip>
  );
}
