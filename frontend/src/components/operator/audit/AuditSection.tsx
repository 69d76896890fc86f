// The section "Audit": who has changed what.
import { useState } from "react";
import { ALL_CHANGES, AUDIT_TOPICS, type AuditFilter, isAllChanges } from "../../../logic/pages/audit.ts";
import { PERIODS } from "../../../logic/pages/runFilter.ts";
import { auditLog } from "../../../state/operator/auditLog.ts";
import type { PagedLog } from "../../../state/operator/pagedLog.ts";
import { useStore } from "../../../state/store.ts";
import type { AuditEntry } from "../../../types/operator.ts";
import { Field } from "../Field.tsx";
import { SelectField } from "../SelectField.tsx";
import { AuditTrail } from "./AuditTrail.tsx";

const TOPICS = AUDIT_TOPICS.map(({ value, words }) => [value, words] as const);
const TIMES = [["", "At any time"] as const, ...PERIODS.map(({ value, words }) => [value, words] as const)];
const ACTORS = ["operator", "guard", "command line", "SIGHUP"];

export function AuditSection() {
  const [filter, setFilter] = useState(ALL_CHANGES);
  const [log, setLog] = useState(() => auditLog(ALL_CHANGES));
  const choose = (wanted: AuditFilter) => {
    setFilter(wanted);
    setLog(auditLog(wanted));
  };
  return (
    <section aria-labelledby="audit-title" className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2 id="audit-title" className="font-semibold text-title">
        Audit log
      </h2>
      <p className="max-w-measure text-dim text-small">
        Who has changed the tool loop, the rollout, tokens, groups, webhooks and upstreams, or ended another person's
        session. Entries never contain secrets.
      </p>
      <search aria-label="Filter of the audit log" className="grid grid-cols-3 gap-3 narrow:grid-cols-2">
        <SelectField
          label="What"
          value={filter.topic}
          options={TOPICS}
          onChange={(topic) => choose({ ...filter, topic })}
        />
        <SelectField
          label="When"
          value={filter.period}
          options={TIMES}
          onChange={(period) => choose({ ...filter, period })}
        />
        <ActorField log={log} onChange={(actor) => actor !== filter.actor && choose({ ...filter, actor })} />
      </search>
      <AuditTrail log={log} empty={isAllChanges(filter) ? "No changes yet." : "No changes match this filter."} />
    </section>
  );
}

/** The server compares whole names, so the filter applies when the field is left, or with the Enter key. */
function ActorField({ log, onChange }: { log: PagedLog<AuditEntry>; onChange: (actor: string) => void }) {
  const { items = [] } = useStore(log);
  const names = [...new Set([...ACTORS, ...items.map(({ actor }) => actor)])];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange(String(new FormData(event.currentTarget).get("actor")).trim());
      }}
    >
      <Field
        name="actor"
        label="Who"
        placeholder="Anyone"
        suggestions={names}
        onBlur={({ target }) => target.form?.requestSubmit()}
      />
    </form>
  );
}
