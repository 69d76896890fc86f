// The whole answer of a run, from its events.
import { Previews } from "./previews.ts";
import type { Done, Image, Source, Warning } from "./types/events.ts";
import type { Call, ChatEvent, ToolResult, UnknownEvent } from "./types/receivedEvents.ts";

/** An event with its sequence number in the run. */
export type RunEvent = (ChatEvent | UnknownEvent) & { readonly seq: number };

/** A call with its result. `result` is undefined if the call has none. */
export interface AnsweredCall extends Call {
  step: number | undefined;
  result: ToolResult["result"] | undefined;
  cached: boolean;
  artifact: unknown;
}

export interface Answer {
  runId: string;
  text: string;
  reasoning: string;
  calls: readonly AnsweredCall[];
  /** Offsets are positions in `text`. */
  sources: readonly Source[];
  images: readonly Image[];
  warnings: readonly Warning[];
  /** How the run ended: `complete` or another status. */
  status: string;
  /** The last event, with cost and usage. */
  done: Done;
  /** Undefined if the run belongs to no conversation. */
  conversationId: string | undefined;
  /** The message that the run answers. */
  messageId: string | undefined;
}

type RunIds = Pick<Answer, "runId" | "conversationId" | "messageId">;

/** Stands between the texts of two steps. */
const BREAK = "\n\n";

/** Collect the events of a run that has ended, without those that a server crash lost. */
export function answerOf(received: readonly RunEvent[], done: Done, ids: RunIds): Answer {
  const { unsaved } = done;
  const events = received.filter(({ seq }) => !unsaved || seq <= unsaved.after || seq >= unsaved.before);
  const contents = events.filter((event) => event.type === "content");
  return {
    ...ids,
    text: contents.map(({ content }) => content).join(""),
    reasoning: reasoningOf(events),
    calls: callsOf(events),
    sources: sourcesOf(events),
    images: contents.flatMap(({ images = [] }) => images),
    warnings: events.filter((event) => event.type === "warning"),
    status: done.status,
    done,
  };
}

function reasoningOf(events: readonly RunEvent[]): string {
  let text = "";
  let lastStep: number | undefined;
  for (const event of events) {
    if (event.type !== "reasoning" || !event.content) continue;
    if (text && event.step !== lastStep) text += BREAK;
    lastStep = event.step;
    text += event.content;
  }
  return text;
}

function callsOf(events: readonly RunEvent[]): AnsweredCall[] {
  const calls = new Map<string, AnsweredCall>();
  const previews = new Previews();
  for (const event of events) {
    previews.add(event);
    if (event.type === "tool_calls") {
      for (const call of event.calls)
        calls.set(call.id, {
          ...previews.whole(call),
          step: event.step,
          result: undefined,
          cached: false,
          artifact: undefined,
        });
    }
    const call = event.type === "tool_result" ? calls.get(event.id) : undefined;
    if (event.type === "tool_result" && call)
      Object.assign(call, { result: event.result, cached: event.cached === true, artifact: event.artifact });
  }
  return [...calls.values()];
}

/** The server's offsets count in the text of one step. */
function sourcesOf(events: readonly RunEvent[]): Source[] {
  const sources: Source[] = [];
  let length = 0;
  let start = 0;
  let isNewStep = false;
  for (const event of events) {
    if (event.type === "tool_calls") isNewStep = true;
    if (event.type !== "content") continue;
    if (isNewStep && event.content) {
      isNewStep = false;
      start = length + (length > 0 && event.content === BREAK ? BREAK.length : 0);
    }
    length += event.content.length;
    for (const source of event.sources ?? []) {
      const { start_index: from, end_index: to } = source;
      const isPlaced = from !== undefined && to !== undefined;
      sources.push(isPlaced ? { ...source, start_index: from + start, end_index: to + start } : source);
    }
  }
  return sources;
}
