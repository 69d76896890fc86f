// The next steps after a failure: one sentence and the matching buttons, best first.
import type { RunEnd } from "../../types/models.ts";
import { ADVICE, adviceOf, type Fix, fixesOf, waitText } from "../wording/advice.ts";

export interface NextSteps {
  sentence: string;
  fixes: readonly Fix[];
}

/** Codes that need another step before the answer can be continued. */
const CONTINUED: Readonly<Record<string, string>> = {
  DETACHED_TIMEOUT: "Continue the answer, and keep this page open until it is complete.",
  RATE_LIMIT: "Wait a moment, then continue the answer.",
  SERVER_SHUTDOWN: "Continue the answer once the server is back.",
  UPSTREAM_UNREACHABLE: "Check the server's network, then continue the answer.",
  SERVER_UNREACHABLE: "Check that Signalbox is running, then continue the answer.",
};

const STEPS: readonly (readonly [Fix, string])[] = [
  ["continue", "Continue the answer"],
  ["retry", "retry"],
  ["model", "choose another model"],
];

/** `goOn`: the answer has text that can be continued. */
export function nextSteps(end: RunEnd, goOn: boolean): NextSteps {
  const known = ADVICE[end.code ?? ""]?.fixes ?? [];
  if (!goOn) return known.includes("continue") ? retried(known) : { sentence: adviceOf(end), fixes: fixesOf(end) };
  const fixes: readonly Fix[] = known.includes("continue") ? known : ["continue", ...fixesOf(end)];
  return { sentence: continued(end, known, fixes), fixes };
}

/** The steps if there is no text to continue. */
function retried(known: readonly Fix[]): NextSteps {
  const fixes: readonly Fix[] = ["retry", ...known.filter((fix) => fix !== "continue" && fix !== "retry")];
  return { sentence: sentenceOf(fixes), fixes };
}

function continued(end: RunEnd, known: readonly Fix[], fixes: readonly Fix[]): string {
  if (known.includes("continue")) return adviceOf(end);
  if (end.retry_after !== undefined && end.retry_after >= 1)
    return `Wait ${waitText(end.retry_after)}, then continue the answer.`;
  const special = CONTINUED[end.code ?? ""];
  if (special) return special;
  // If something must be fixed first, a retry does not help.
  const isEnough = !(end.code && end.code in ADVICE) || known.includes("retry");
  return isEnough ? sentenceOf(fixes) : `${adviceOf(end)} Then continue the answer.`;
}

function sentenceOf(fixes: readonly Fix[]): string {
  const steps = STEPS.filter(([fix]) => fixes.includes(fix)).map(([, words]) => words);
  const last = steps.pop() ?? "";
  const words = steps.length > 0 ? `${steps.join(", ")} or ${last}` : last;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
