// The contract's events as the page accepts them: category and visibility of a call are optional.
import type * as contract from "./events.ts";

type Shown = "category" | "visibility";
type Open<Said extends Record<Shown, unknown>> = Omit<Said, Shown> & Partial<Pick<Said, Shown>>;

export type Call = Open<contract.Call>;
export type ToolCalls = Omit<contract.ToolCalls, "calls"> & { calls: Call[] };
export type ToolExecuting = Open<contract.ToolExecuting>;
export type ToolResult = Open<contract.ToolResult>;

/** An event of a type that this client does not know, from a newer server. */
export interface UnknownEvent {
  type: "unknown";
  /** The event as received. Its real type is `raw.type`. */
  raw: Readonly<Record<string, unknown>> & { readonly type: string };
}

type OfCalls = contract.ToolCalls | contract.ToolExecuting | contract.ToolResult;
export type ChatEvent = Exclude<contract.ChatEvent, OfCalls> | ToolCalls | ToolExecuting | ToolResult;
