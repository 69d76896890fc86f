// The columns are fetched before they are needed: the server may be away when a question waits for it.

export const loadColumns = () => import("./CompareColumns.tsx");

export const preloadColumns = (): void => {
  loadColumns().catch(() => undefined);
};
