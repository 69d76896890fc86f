// Loads the sidebar's list component while the server prepares its data.
import { later } from "../ui/later.tsx";
import type { LineList as List } from "./LineList.tsx";

const fetched = later(() => import("./LineList.tsx").then(({ LineList }) => LineList));

export const LineList = fetched as typeof List;

export const preloadLines = (): Promise<boolean> => fetched.preload();
