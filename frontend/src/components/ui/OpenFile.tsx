// Lets an answer open its files in the panel. Absent where a single run is shown, which has no panel.
import { createContext } from "react";

export const OpenFile = createContext<((path: string) => void) | undefined>(undefined);
