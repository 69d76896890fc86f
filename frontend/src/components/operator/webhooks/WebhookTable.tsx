// The receivers of events, each with its events, its state and the result of the last test event.
import { testText, webhookName, webhookStatus } from "../../../logic/pages/webhooks.ts";
import type { Test } from "../../../state/operator/webhooks.ts";
import type { Webhook } from "../../../types/webhooks.ts";
import { Button } from "../../ui/Button.tsx";
import { Lamp } from "../../ui/Lamp.tsx";
import { CELL, CellName, PlainTable, ROW } from "../PlainTable.tsx";
import type { Opened } from "./WebhooksSection.tsx";

interface Props {
  webhooks: readonly Webhook[];
  tests: Readonly<Record<string, Test>>;
  onOpen: (opened: Opened) => void;
  onTest: (webhook: Webhook) => void;
}

export function WebhookTable({ webhooks, tests, onOpen, onTest }: Props) {
  return (
    <PlainTable label="Webhooks" heads={["Receiver", "Events", "Status", "Actions"]}>
      {webhooks.map((webhook) => (
        <Row key={webhook.id} webhook={webhook} test={tests[webhook.id]} onOpen={onOpen} onTest={onTest} />
      ))}
    </PlainTable>
  );
}

interface RowProps extends Pick<Props, "onOpen" | "onTest"> {
  webhook: Webhook;
  test: Test | undefined;
}

const ACTIONS = [
  { what: "log", words: "Deliveries" },
  { what: "form", words: "Change" },
  { what: "rotate", words: "Rotate" },
  { what: "delete", words: "Delete" },
] as const;

function Row({ webhook, test, onOpen, onTest }: RowProps) {
  const { url, events, description, formerUntil } = webhook;
  const { lamp, words } = webhookStatus(webhook);
  const name = webhookName(webhook);
  return (
    <tr data-part="webhook" className={ROW}>
      <td className={`${CELL} w-1/3 wrap-anywhere narrow:w-auto`}>
        {description && <span className="block font-medium">{description}</span>}
        <span className={description ? "text-dim text-tiny" : "font-medium"}>{url}</span>
      </td>
      <td className={`${CELL} wrap-anywhere`}>
        <CellName>Events:</CellName>
        {events.join(", ")}
      </td>
      <td className={CELL}>
        <span className="flex items-center gap-2">
          <Lamp lamp={lamp} /> {words}
        </span>
        {formerUntil !== undefined && formerUntil > Date.now() && (
          <span className="block text-dim text-tiny">
            Signed with both secrets until {new Date(formerUntil).toLocaleString()}
          </span>
        )}
        <TestResult test={test} />
      </td>
      <td className={CELL}>
        <span className="flex flex-wrap justify-end gap-1 narrow:justify-start">
          <Button
            look="outline"
            disabled={test === "sending"}
            aria-label={`Send test: ${name}`}
            onClick={() => onTest(webhook)}
          >
            Send test
          </Button>
          {ACTIONS.map(({ what, words: action }) => (
            <Button
              key={what}
              look="outline"
              aria-label={`${action}: ${name}`}
              onClick={() => onOpen({ what, webhook })}
            >
              {action}
            </Button>
          ))}
        </span>
      </td>
    </tr>
  );
}

/** Always there, so that screen readers announce the result. */
function TestResult({ test }: { test: Test | undefined }) {
  const isFailed = typeof test === "object" && ("failure" in test || test.delivery.state !== "delivered");
  return (
    <span role="status" className={`block text-tiny ${isFailed ? "text-red-ink" : "text-dim"}`}>
      {test === "sending" && "Sending a test event…"}
      {typeof test === "object" && ("delivery" in test ? testText(test.delivery) : `Test not sent. ${test.failure}`)}
    </span>
  );
}
