// The facts about one attempt for the run inspector.
import type { Attempt } from "../../types/api.ts";
import { costText, count, duration } from "../wording/statusAndAmounts.ts";
import { type Fact, speedOf, speedText } from "./runFacts.ts";

const factOf = (name: string, value: string | undefined, note?: string): Fact =>
  value ? { name, value, ...(note && { note }) } : { name, value: "unknown", missing: true };

const names = (value: unknown, none: string): string =>
  Array.isArray(value) && value.length > 0 ? value.join(", ") : none;

/** Parts that were not sent are named, so that they do not look unknown. */
export function requestFacts({ model, tools, streamed, raw }: Attempt): readonly Fact[] {
  const choice = raw.tool_choice;
  return [
    factOf("Model", model),
    factOf("Messages", typeof raw.messages === "number" ? count(raw.messages) : undefined),
    factOf("Tools", names(tools, "none")),
    factOf("Tool choice", choice == null ? "not sent" : typeof choice === "string" ? choice : JSON.stringify(choice)),
    factOf("Parameters", names(raw.params, "none")),
    factOf("Changed for the provider", names(raw.changes, "nothing")),
    factOf("Response", streamed ? "streamed" : "sent as a whole"),
  ];
}

export function responseFacts(attempt: Attempt, simulated = false): readonly Fact[] {
  const { usage, startedAt, firstPartAt, endedAt } = attempt;
  const amount = (n: number | undefined) => (n === undefined ? undefined : count(n));
  const after = (at: number | undefined) => (at === undefined ? undefined : duration(at - startedAt));
  return [
    factOf("Model used", attempt.servedModel),
    factOf("Provider", attempt.provider),
    ...(attempt.upstream === undefined ? [] : [factOf("Upstream", attempt.upstream)]),
    factOf("First token", after(firstPartAt)),
    factOf("Duration", after(endedAt)),
    factOf("Speed", speedText(speedOf([attempt]))),
    factOf("Input tokens", amount(usage?.input)),
    factOf("Cached input tokens", amount(usage?.cached)),
    factOf("Output tokens", amount(usage?.output)),
    factOf("Reasoning tokens", amount(usage?.reasoning)),
    factOf(
      "Cost",
      usage?.cost === undefined ? undefined : costText(usage.cost, { simulated, estimated: false }),
      attempt.settled ? "final cost reported later" : undefined,
    ),
    factOf(
      "Finish reason",
      attempt.finishReason,
      attempt.nativeFinishReason === undefined ? undefined : `native ${attempt.nativeFinishReason}`,
    ),
    ...(attempt.cancelled === undefined ? [] : [factOf("Provider's record", attempt.cancelled)]),
    factOf("Generation ID", attempt.generationId),
  ];
}
