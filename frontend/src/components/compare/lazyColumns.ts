// The columns are fetched before they are needed: the server may be unreachable when a message waits for it.
import { retried } from "../../state/retriedLoad.ts";

export const loadColumns = () => retried(() => import("./CompareColumns.tsx"));

export const preloadColumns = (): void => {
  loadColumns().catch(() => undefined);
};
