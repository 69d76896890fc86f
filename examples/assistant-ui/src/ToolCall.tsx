import type { ToolCallMessagePartProps } from "@assistant-ui/react";
import { sentenceOf } from "./signalbox";
import { DataTable } from "./table/DataTable";
import { tableOf } from "./table/dataTable";

/** A call of any tool: its table if it has one, the reason if it failed, and the rest on request. */
export function ToolCall({ toolName, argsText, result, artifact, isError, status }: ToolCallMessagePartProps) {
  const table = tableOf(artifact);
  const isRunning = result === undefined && status.type === "running";
  const state = isRunning ? "running…" : isError ? "failed" : result === undefined ? "no result" : "done";
  const reason = isError && !table?.error ? sentenceOf(String(result)) : undefined;
  return (
    <div className="call">
      <details className="fold">
        <summary>
          {toolName} · {state}
        </summary>
        <h2>Arguments</h2>
        <pre tabIndex={0}>{argsText || "none"}</pre>
        {result !== undefined && (
          <>
            <h2>Result</h2>
            <pre tabIndex={0}>{typeof result === "string" ? indented(result) : JSON.stringify(result, null, 2)}</pre>
          </>
        )}
      </details>
      {reason && <p className="failure">{reason}</p>}
      {table && <DataTable table={table} />}
    </div>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
