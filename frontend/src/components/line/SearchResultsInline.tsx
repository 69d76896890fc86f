// A burst of searches: one sentence, and below it what was asked and the sources found, each with the server's number.
import { memo } from "react";
import { countSources } from "../run/links.ts";
import { hasFailed, lampOf, type Stop, wasSkipped } from "../run/view.ts";
import { plural } from "../run/words.ts";
import type { CallItem, Link } from "../types/models.ts";
import { Lamp } from "./Lamp.tsx";
import { StopHead } from "./StopHead.tsx";

type SearchStop = Extract<Stop, { kind: "search" }>;

/** Open once there is something to see, folded when the answer starts. */
export const SearchResultsInline = memo(
  function SearchResultsInline({ stop }: { stop: SearchStop }) {
    const settled = stop.calls.some((call) => call.status !== "waiting" && call.status !== "running");
    return (
      <StopHead lamp={stop.lamp} title={<Title stop={stop} />} auto={settled && !stop.answered}>
        <ul className="queries">
          {stop.calls.map((call) => (
            <Query key={call.id} call={call} />
          ))}
        </ul>
        {stop.links.length > 0 && (
          <ol className="sources">
            {stop.links.map((link) => (
              <Source key={`${link.n} ${link.url}`} link={link} />
            ))}
          </ol>
        )}
      </StopHead>
    );
  },
  (before, after) =>
    before.stop.answered === after.stop.answered &&
    before.stop.calls.length === after.stop.calls.length &&
    before.stop.calls.every((call, index) => call === after.stop.calls[index]),
);

function Title({ stop }: { stop: SearchStop }) {
  const failed = stop.calls.filter(hasFailed).length;
  const skipped = stop.calls.filter(wasSkipped).length;
  const ran = stop.calls.length - skipped;
  const found = countSources(stop.links);
  const running = stop.lamp === "running";
  return (
    <>
      {running ? "Searching" : ran > 0 ? "Searched" : "Search"}
      {ran > 1 && ` ${ran}×`}
      {found > 0 && <span className="dim"> · {plural(found, "source")}</span>}
      {!running && found === 0 && ran > failed && <span className="dim"> · nothing found</span>}
      {failed > 0 && <span className="bad"> · {failed === ran ? "failed" : `${failed} failed`}</span>}
      {skipped > 0 && <span className="dim"> · {ran === 0 ? "not run" : `${skipped} not run`}</span>}
    </>
  );
}

function Query({ call }: { call: CallItem }) {
  const { query } = call.arguments;
  return (
    <li>
      <Lamp lamp={lampOf(call)} spoken />
      <span className="query">{typeof query === "string" && query ? query : call.name}</span>
      <span className="dim">{fate(call)}</span>
    </li>
  );
}

/** What became of one search. Why one was not run is said by the warning; the result's sentence is for the model. */
function fate(call: CallItem): string {
  if (wasSkipped(call)) return "not run";
  if (call.error !== undefined) return call.error;
  if (call.cached) return "same search as before";
  if (call.status !== "done") return "searching";
  return call.links.length > 0 ? plural(call.links.length, "result") : "nothing found";
}

function Source({ link }: { link: Link }) {
  return (
    <li>
      <a
        className="source"
        href={link.url}
        target="_blank"
        rel="noopener noreferrer"
        title={link.snippet || link.title}
      >
        <span className="source-host">{link.host}</span>
        <span className="source-title">{link.title}</span>
        {link.snippet && <span className="source-snippet">{link.snippet}</span>}
        {link.n !== undefined && <span className="source-n">[{link.n}]</span>}
      </a>
    </li>
  );
}
