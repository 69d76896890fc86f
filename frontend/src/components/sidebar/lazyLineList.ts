// The sidebar's list of lines, fetched while the server looks for what it lists.
import { later } from "../ui/later.tsx";
import type { LineList as List } from "./LineList.tsx";

const fetched = later(() => import("./LineList.tsx").then(({ LineList }) => LineList));

export const LineList = fetched as typeof List;

export const preloadLines = (): Promise<boolean> => fetched.preload();
