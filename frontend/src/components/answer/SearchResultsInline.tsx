// A burst of searches: one sentence, and below it the queries and the sources with the server's numbers.
import { PreviewCard } from "@base-ui/react/preview-card";
import { memo, type ReactNode, useState } from "react";
import { burstLamp, hasFailed, lampOf, type Stop, wasSkipped } from "../../logic/answer/stops.ts";
import { tableOf } from "../../logic/table/dataTable.ts";
import { isOpen } from "../../logic/trace/items.ts";
import { type Source, sourcesIn } from "../../logic/trace/sources.ts";
import { failureOf } from "../../logic/wording/advice.ts";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import type { CallItem, Link } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";
import { usePassEscape } from "../ui/escapeKey.ts";
import { Lamp } from "../ui/Lamp.tsx";
import { useToolTitle } from "../ui/Tools.tsx";
import { FailedCalls } from "./failure/FailedCalls.tsx";
import { Aside, StepHeader } from "./StepHeader.tsx";

type SearchStop = Extract<Stop, { kind: "search" }>;

/** More sources would push the answer out of sight. */
const SHOWN = 20;

interface Props {
  stop: SearchStop;
  /** The search's notice, if no earlier step has shown it. */
  notice: string | undefined;
  open: boolean;
  /** The user has opened or closed the panel, so failures have been seen. */
  touched: boolean;
  onToggle: (id: string, open: boolean) => void;
}

export const SearchResultsInline = memo(function SearchResultsInline({ stop, notice, open, touched, onToggle }: Props) {
  const sources = sourcesIn(stop.calls.flatMap((call) => call.links));
  return (
    <StepHeader
      id={stop.id}
      kind="search"
      lamp={burstLamp(stop.calls, touched)}
      title={<Title calls={stop.calls} found={sources.length} touched={touched} />}
      notice={notice}
      open={open}
      onToggle={onToggle}
    >
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5 pt-1.5">
        {stop.calls.map((call) => (
          <Query key={call.id} call={call} />
        ))}
      </ul>
      {sources.length > 0 && <Sources sources={sources} />}
    </StepHeader>
  );
}, isSameBurst);

interface Burst {
  stop: { calls: readonly CallItem[] };
  notice?: string | undefined;
  open: boolean;
  touched: boolean;
}

/** Unchanged calls are the same objects, so a token does not render a burst again. */
export function isSameBurst(before: Burst, after: Burst): boolean {
  return (
    before.notice === after.notice &&
    before.open === after.open &&
    before.touched === after.touched &&
    before.stop.calls.length === after.stop.calls.length &&
    before.stop.calls.every((call, index) => call === after.stop.calls[index])
  );
}

function Title({ calls, found, touched }: { calls: readonly CallItem[]; found: number; touched: boolean }) {
  const failed = calls.filter(hasFailed).length;
  const skipped = calls.filter(wasSkipped).length;
  const cancelled = calls.filter((call) => call.status === "cancelled").length;
  const cached = calls.filter((call) => call.status === "done" && call.cached).length;
  const ran = calls.length - skipped;
  const rows = calls.reduce((sum, call) => sum + rowsIn(call), 0);
  const isRunning = calls.some(isOpen);
  return (
    <>
      {isRunning ? "Searching" : ran > cancelled ? "Searched" : "Search"}
      {ran > 1 && ` ${ran}×`}
      {found > 0 && <Aside>{plural(found, "source")}</Aside>}
      {rows > 0 && <Aside>{plural(rows, "result")}</Aside>}
      {!isRunning && found + rows === 0 && ran > failed + cancelled && <Aside>no results</Aside>}
      <FailedCalls failed={failed} of={ran} touched={touched} />
      {cached > 0 && <Aside>{cached === ran ? "cached" : `${cached} cached`}</Aside>}
      {cancelled > 0 && <Aside>{cancelled === ran ? "stopped" : `${cancelled} stopped`}</Aside>}
      {skipped > 0 && <Aside>{ran === 0 ? "skipped" : `${skipped} skipped`}</Aside>}
    </>
  );
}

function Query({ call }: { call: CallItem }) {
  const title = useToolTitle()(call.name);
  const { query } = call.arguments;
  return (
    <li className="flex min-w-0 items-baseline gap-2" data-part="query">
      <span className="flex translate-y-px [&_svg]:size-2.5">
        <Lamp lamp={lampOf(call)} spoken />
      </span>
      <span dir="auto" className="min-w-0 truncate">
        {typeof query === "string" && query ? query : title}
      </span>
      <span className={`shrink-0 ${hasFailed(call) ? "text-red-ink" : "text-dim"}`} title={call.error}>
        {outcomeOf(call)}
      </span>
    </li>
  );
}

const rowsIn = (call: CallItem): number => tableOf(call.artifact)?.data.length ?? 0;

/** A result with a table has its rows, any other its links. */
const foundIn = (call: CallItem): number => rowsIn(call) || call.links.length;

/** The outcome of one search. The error text of a failed result is written for the model, so it is not shown. */
function outcomeOf(call: CallItem): string {
  if (isOpen(call)) return call.status === "waiting" ? "waiting" : "searching";
  if (call.status !== "done") return failureOf(call);
  if (call.cached) return "cached";
  const found = foundIn(call);
  return found > 0 ? plural(found, "result") : "no results";
}

/** Sources as rows, each with its number. */
export function Sources({ sources }: { sources: readonly Source[] }) {
  const [isWhole, showAll] = useState(false);
  const shown = isWhole ? sources : sources.slice(0, SHOWN);
  const rest = sources.length - shown.length;
  return (
    <>
      <ol className="-mx-1.5 grid grid-cols-[minmax(0,1fr)] pt-1.5">
        {shown.map((source) => (
          <SourceRow key={source.link.url} source={source} />
        ))}
      </ol>
      {rest > 0 && (
        <Button className="-ms-2" onClick={() => showAll(true)}>
          Show {plural(rest, "more source")}
        </Button>
      )}
    </>
  );
}

function SourceRow({ source: { link, more } }: { source: Source }) {
  return (
    <li>
      <SourceLink
        link={link}
        className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-baseline gap-x-2 rounded-sm px-1.5 py-1 text-ink no-underline hover:bg-sunken"
      >
        <span
          aria-hidden="true"
          className="row-span-2 mt-0.5 grid size-5 place-items-center self-start rounded-sm border border-edge bg-sunken text-dim text-tiny uppercase"
        >
          {link.host.charAt(0)}
        </span>
        <span className="flex min-w-0 items-baseline gap-2 narrow:flex-col narrow:gap-0">
          <span className="max-w-48 shrink-0 truncate text-dim narrow:max-w-full">{link.host}</span>
          <span dir="auto" className="min-w-0 max-w-full truncate font-medium">
            {link.title}
          </span>
        </span>
        {link.n !== undefined && <span className="text-accent tabular-nums">[{link.n}]</span>}
        {link.snippet && (
          <span dir="auto" className="col-start-2 truncate text-dim">
            {link.snippet}
          </span>
        )}
      </SourceLink>
      {more.length > 0 && (
        <ul className="pb-1 ps-8.5">
          {more.map((section) => (
            <li key={section.url} className="truncate">
              <span className="text-dim">also: </span>
              <SourceLink link={section} className="text-dim decoration-edge-strong hover:text-ink">
                <bdi>{section.title}</bdi>
              </SourceLink>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

interface SourceLinkProps {
  link: Link;
  className: string;
  children: ReactNode;
}

/** Shows the whole excerpt on hover and focus. */
function SourceLink({ link, className, children }: SourceLinkProps) {
  const hanging = usePassEscape();
  const target = { href: link.url, target: "_blank", rel: "noopener noreferrer" };
  if (!link.snippet)
    return (
      <a {...target} className={className} data-part="source">
        {children}
      </a>
    );
  return (
    <PreviewCard.Root {...hanging}>
      <PreviewCard.Trigger {...target} className={className} data-part="source">
        {children}
      </PreviewCard.Trigger>
      <PreviewCard.Portal>
        <PreviewCard.Positioner sideOffset={4} collisionPadding={8} align="start" className="z-50">
          <PreviewCard.Popup
            // The popup is outside the page's landmarks, so it is a landmark itself.
            render={<section aria-label={`Excerpt of ${link.title}`} />}
            data-part="excerpt"
            className="grid max-h-80 w-80 max-w-[calc(100vw-1rem)] gap-1 overflow-hidden rounded-md border border-edge bg-raised p-3 text-small shadow-over transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
          >
            <span dir="auto" className="font-medium">
              {link.title}
            </span>
            <span className="truncate text-dim text-tiny">{link.url}</span>
            <span dir="auto">{link.snippet}</span>
          </PreviewCard.Popup>
        </PreviewCard.Positioner>
      </PreviewCard.Portal>
    </PreviewCard.Root>
  );
}
