// Converts the tool choice between its setting and the API's field.
import type { ToolChoice } from "../../types/api.ts";
import type { WireToolChoice } from "../../types/models.ts";

const PREFIX = "tool:";
const WORDS = ["auto", "none", "required"] as const;

/** The forced tool, or undefined. */
export const namedTool = (choice: ToolChoice): string | undefined =>
  choice.startsWith(PREFIX) ? choice.slice(PREFIX.length) : undefined;

/** The API's form. Undefined if nothing is set. */
export function wireChoice(choice: ToolChoice): WireToolChoice | undefined {
  const name = namedTool(choice);
  if (name !== undefined) return { type: "function", function: { name } };
  return WORDS.find((word) => word === choice);
}

/** The setting that corresponds to a request's field. Empty if it is not a tool choice. */
export function choiceOfWire(wire: unknown): ToolChoice {
  const word = WORDS.find((one) => one === wire);
  if (word) return word;
  const name = (wire as { function?: { name?: unknown } } | null | undefined)?.function?.name;
  return typeof name === "string" && name ? `${PREFIX}${name}` : "";
}

/** Read a stored setting. Empty if it is invalid. */
export function readChoice(saved: unknown): ToolChoice {
  if (typeof saved !== "string") return "";
  const isNamed = saved.startsWith(PREFIX) && saved.length > PREFIX.length;
  return isNamed ? (saved as ToolChoice) : (WORDS.find((word) => word === saved) ?? "");
}
