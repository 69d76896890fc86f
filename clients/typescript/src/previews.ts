// Joins the previews of calls, and puts them into the arguments of the announced calls.
import type { Preview } from "./types/events.ts";
import type { Call, ChatEvent, UnknownEvent } from "./types/receivedEvents.ts";

/** The previews of one run. Pass each event to `add`, in order. */
export class Previews {
  readonly #texts = new Map<string, Record<string, string>>();
  readonly #keys = new Map<string, string>();

  /** Add the text of a preview. Other events are ignored. */
  add(event: ChatEvent | UnknownEvent): void {
    if (event.type !== "preview") return;
    if (event.withdrawn) this.#texts.delete(event.id);
    else this.#addText(event);
  }

  #addText({ id, key = this.#keys.get(id), text = "" }: Preview): void {
    if (key === undefined) return; // the stream was read from the middle
    this.#keys.set(id, key);
    const texts = this.#texts.get(id) ?? {};
    this.#texts.set(id, texts);
    texts[key] = (texts[key] ?? "") + text;
  }

  /** The arguments of a call so far, by JSON Pointer, such as `/content`. */
  textsOf(callId: string): Readonly<Record<string, string>> {
    return this.#texts.get(callId) ?? {};
  }

  /** An announced call with its whole arguments. */
  whole<Announced extends Call>(call: Announced): Announced {
    const texts = this.textsOf(call.id);
    const pointers = Object.keys(call.previewed ?? {}).filter((pointer) => texts[pointer] !== undefined);
    if (pointers.length === 0) return call;
    const args: unknown = JSON.parse(call.arguments);
    for (const pointer of pointers) put(args, pointer, texts[pointer]);
    return { ...call, arguments: JSON.stringify(args) };
  }
}

/** Replace the empty string at a JSON Pointer. A pointer that does not fit is ignored. */
function put(args: unknown, pointer: string, text: unknown): void {
  const path = pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = path.pop() ?? "";
  let inside = args;
  for (const token of path) inside = isContainer(inside) ? inside[token] : undefined;
  if (isContainer(inside) && Object.hasOwn(inside, last)) inside[last] = text;
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
