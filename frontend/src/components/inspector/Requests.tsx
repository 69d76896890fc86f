// The request to Signalbox and the requests to the provider. The server has removed their texts.
import { requestFacts } from "../../logic/inspector/attemptFacts.ts";
import { withoutSecrets } from "../../logic/inspector/runFacts.ts";
import type { Attempt, RunRecord } from "../../types/api.ts";
import { FactTable } from "./FactTable.tsx";
import { Json } from "./Json.tsx";

export function Requests({ record, missing }: { record: RunRecord | undefined; missing: string }) {
  if (!record) return <p className="text-dim text-small">{missing}</p>;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-dim text-tiny">
        For privacy, messages are listed by role and length only, and tool results are left out.
      </p>
      <Json title="Request to Signalbox" value={withoutSecrets(record.request)} />
      {record.attempts.length === 0 && <p className="text-dim text-small">No request was sent to a provider.</p>}
      {[...record.attempts, ...record.toolAttempts].map((attempt, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: requests are only appended, and those of tools have no other key
        <section key={index} className="flex flex-col gap-2 border-edge border-t pt-3">
          <h3 className="font-semibold text-small">{titleOf(attempt)}</h3>
          <FactTable facts={requestFacts(attempt)} />
          <Json title={`${titleOf(attempt)}, raw data`} value={withoutSecrets(attempt.raw)} />
        </section>
      ))}
    </div>
  );
}

const titleOf = ({ step, number, final, toolCall }: Attempt): string =>
  [`Step ${step}`, toolCall && "sent by a tool", number > 1 && `retry ${number - 1}`, final && "final answer"]
    .filter(Boolean)
    .join(" · ");
