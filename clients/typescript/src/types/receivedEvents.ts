// The contract's events as the page accepts them: category and visibility of a call are optional.
import type * as contract from "./events.ts";

type Shown = "category" | "visibility";
type Open<Said extends Record<Shown, unknown>> = Omit<Said, Shown> & Partial<Pick<Said, Shown>>;

export type Call = Open<contract.Call>;
export type ToolCalls = Omit<contract.ToolCalls, "calls"> & { calls: Call[] };
export type ToolExecuting = Open<contract.ToolExecuting>;
export type ToolResult = Open<contract.ToolResult>;

type OfCalls = contract.ToolCalls | contract.ToolExecuting | contract.ToolResult;
export type ChatEvent = Exclude<contract.ChatEvent, OfCalls> | ToolCalls | ToolExecuting | ToolResult;
