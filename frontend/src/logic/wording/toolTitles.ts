// Titles of tools: the server's title, or the tool's name as words.
import type { Tool } from "../../types/api.ts";

export type ToolTitles = ReadonlyMap<string, string>;

export const toolTitles = (tools: readonly Tool[]): ToolTitles =>
  new Map(tools.map(({ name, title }) => [name, title]));

/** A run may have used a tool that is no longer installed. */
export const titleOf = (titles: ToolTitles, name: string): string => titles.get(name) || readableName(name);

/** `get_weather` becomes "Get weather". Abbreviations keep their capitals. */
export function readableName(name: string): string {
  const words = name
    .split(/_+|(?<=[a-z0-9])(?=[A-Z])/)
    .filter(Boolean)
    .map((word) => (word === word.toUpperCase() ? word : word.toLowerCase()))
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
