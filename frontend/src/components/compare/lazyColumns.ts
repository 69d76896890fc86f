// Loads the columns before they are needed: later the server may be unreachable while a message waits.
import { retried } from "../../state/retriedLoad.ts";

export const loadColumns = () => retried(() => import("./CompareColumns.tsx"));

export const preloadColumns = (): void => {
  loadColumns().catch(() => undefined);
};
