// What operators and the guard have changed, the newest first.
import { actionText, detailsText, hasFigures } from "../../../logic/pages/rollout.ts";
import type { AuditEntry } from "../../../types/rollout.ts";
import { Button } from "../../ui/Button.tsx";
import { EmptyNote } from "../PlainTable.tsx";

interface Props {
  entries: readonly AuditEntry[];
  onOlder: (() => void) | undefined;
}

export function AuditTrail({ entries, onOlder }: Props) {
  return (
    <section aria-labelledby="audit" className="grid gap-2">
      <h2 id="audit" className="font-semibold">
        Audit trail
      </h2>
      {entries.length === 0 ? (
        <EmptyNote>No changes yet.</EmptyNote>
      ) : (
        <ol className="overflow-hidden rounded-md border border-edge text-small">
          {entries.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
      {onOlder && (
        <Button look="outline" size="medium" className="justify-self-end" onClick={onOlder}>
          Load older entries
        </Button>
      )}
    </section>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  return (
    <li data-part="audit" className="grid gap-1 border-edge px-4 py-2 not-first:border-t">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-medium">{actionText(entry.action)}</span>
        <span className="text-dim">by {entry.actor}</span>
        <time className="ms-auto text-dim tabular-nums" dateTime={new Date(entry.at).toISOString()}>
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
