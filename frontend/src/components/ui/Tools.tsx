// Provides what the server says about its tools to all components.
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { titleOf, toolTitles } from "../../logic/wording/toolTitles.ts";
import type { Tool } from "../../types/api.ts";

const factsOf = (tools: readonly Tool[]) => ({
  titles: toolTitles(tools),
  withTable: new Set(tools.filter(({ showsTable }) => showsTable).map(({ name }) => name)),
});

const Context = createContext(factsOf([]));

export function ToolsProvider({ tools, children }: { tools: readonly Tool[]; children: ReactNode }) {
  return <Context value={useMemo(() => factsOf(tools), [tools])}>{children}</Context>;
}

/** Returns a function from a tool's name to its title. */
export function useToolTitle(): (name: string) => string {
  const { titles } = useContext(Context);
  return (name) => titleOf(titles, name);
}

/** The names of tools whose results have a table. */
export const useToolsWithTable = (): ReadonlySet<string> => useContext(Context).withTable;
