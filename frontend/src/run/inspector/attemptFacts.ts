// The facts about one attempt for the run inspector.
import type { Attempt } from "../../types/api.ts";
import { costWords, count, duration } from "../wording/statusAndAmounts.ts";
import { type Fact, speedOf, speedWords } from "./runFacts.ts";

const told = (name: string, value: string | undefined, note?: string): Fact =>
  value ? { name, value, ...(note && { note }) } : { name, value: "unknown", untold: true };

const names = (value: unknown, none: string): string =>
  Array.isArray(value) && value.length > 0 ? value.join(", ") : none;

/** Parts that were not sent are named, so that they do not look unknown. */
export function requestFacts({ model, tools, streamed, raw }: Attempt): readonly Fact[] {
  const choice = raw.tool_choice;
  return [
    told("Model", model),
    told("Messages", typeof raw.messages === "number" ? count(raw.messages) : undefined),
    told("Tools", names(tools, "none")),
    told("Tool choice", choice == null ? "not sent" : typeof choice === "string" ? choice : JSON.stringify(choice)),
    told("Parameters", names(raw.params, "none")),
    told("Changed for the provider", names(raw.changes, "nothing")),
    told("Response", streamed ? "streamed" : "sent as a whole"),
  ];
}

export function responseFacts(attempt: Attempt, simulated = false): readonly Fact[] {
  const { usage, startedAt, firstPartAt, endedAt } = attempt;
  const amount = (n: number | undefined) => (n === undefined ? undefined : count(n));
  const after = (at: number | undefined) => (at === undefined ? undefined : duration(at - startedAt));
  return [
    told("Model used", attempt.servedModel),
    told("Provider", attempt.provider),
    told("First token", after(firstPartAt)),
    told("Duration", after(endedAt)),
    told("Speed", speedWords(speedOf([attempt]))),
    told("Input tokens", amount(usage?.input)),
    told("Cached input tokens", amount(usage?.cached)),
    told("Output tokens", amount(usage?.output)),
    told("Reasoning tokens", amount(usage?.reasoning)),
    told(
      "Cost",
      usage?.cost === undefined ? undefined : costWords(usage.cost, { simulated, estimated: false }),
      attempt.settled ? "final cost reported later" : undefined,
    ),
    told(
      "Finish reason",
      attempt.finishReason,
      attempt.nativeFinishReason === undefined ? undefined : `native ${attempt.nativeFinishReason}`,
    ),
    ...(attempt.cancelled === undefined ? [] : [told("Provider's record", attempt.cancelled)]),
    told("Generation ID", attempt.generationId),
  ];
}
