// The entries of an audit log, the newest first.
import { useEffect } from "react";
import { actionText, detailsText, hasFigures } from "../../../logic/pages/audit.ts";
import type { PagedLog } from "../../../state/operator/pagedLog.ts";
import { useStore } from "../../../state/store.ts";
import type { AuditEntry } from "../../../types/operator.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { Button } from "../../ui/Button.tsx";
import { EmptyNote, LoadingNote } from "../PlainTable.tsx";

interface Props {
  log: PagedLog<AuditEntry>;
  /** Why there are no entries. */
  empty: string;
}

export function AuditTrail({ log, empty }: Props) {
  const { items, next, trouble, isFetchingOlder } = useStore(log);
  useEffect(() => log.start(), [log]);
  return (
    <>
      {trouble && <PageAlert>{trouble} Retrying every 5 seconds.</PageAlert>}
      {!items && !trouble && <LoadingNote />}
      {items?.length === 0 && <EmptyNote>{empty}</EmptyNote>}
      {items && items.length > 0 && (
        <ol className="overflow-hidden rounded-md border border-edge text-small">
          {items.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
      {next !== undefined && (
        <Button
          look="outline"
          size="medium"
          className="justify-self-end"
          disabled={isFetchingOlder}
          onClick={() => void log.loadOlder()}
        >
          {isFetchingOlder ? "Loading…" : "Load older entries"}
        </Button>
      )}
    </>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  return (
    <li data-part="audit" className="grid gap-1 border-edge px-4 py-2 not-first:border-t">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-medium">{actionText(entry.action)}</span>
        <span className="text-dim">by {entry.actor}</span>
        <time
          className="ms-auto text-dim tabular-nums narrow:ms-0 narrow:basis-full"
          dateTime={new Date(entry.at).toISOString()}
        >
          {new Date(entry.at).toLocaleString()}
        </time>
      </p>
      <p className="text-dim wrap-anywhere">{detailsText(entry)}</p>
      {hasFigures(entry) && (
        <details>
          <summary className="cursor-pointer text-dim">All details</summary>
          <pre className="mt-1 whitespace-pre-wrap font-mono text-tiny wrap-anywhere">
            {JSON.stringify(entry.details, null, 2)}
          </pre>
        </details>
      )}
    </li>
  );
}
