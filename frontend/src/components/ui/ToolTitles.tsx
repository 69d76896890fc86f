// Provides the titles of tools to all components.
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { type ToolTitles, titleOf, toolTitles } from "../../logic/wording/toolTitles.ts";
import type { Tool } from "../../types/api.ts";

const Context = createContext<ToolTitles>(new Map());

export function ToolTitlesProvider({ tools, children }: { tools: readonly Tool[]; children: ReactNode }) {
  return <Context value={useMemo(() => toolTitles(tools), [tools])}>{children}</Context>;
}

/** Returns a function from a tool's name to its title. */
export function useToolTitle(): (name: string) => string {
  const titles = useContext(Context);
  return (name) => titleOf(titles, name);
}
