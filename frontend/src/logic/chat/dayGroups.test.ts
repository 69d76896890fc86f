import { describe, expect, it } from "vitest";
import { dayNames, groupByDay } from "./dayGroups.ts";

const at = (text: string): number => new Date(text).getTime();
const NOW = at("2026-03-10T09:00:00");

describe("days", () => {
  it.each([
    ["2026-03-10T09:30:00", "Today"], // a server's clock may be ahead
    ["2026-03-10T00:00:00", "Today"],
    ["2026-03-09T23:59:59", "Yesterday"],
    ["2026-03-09T00:00:00", "Yesterday"],
    ["2026-03-08T23:59:59", "Previous 7 days"],
    ["2026-03-03T00:00:00", "Previous 7 days"],
    ["2026-03-02T23:59:59", "March"],
    ["2026-01-01T00:00:00", "January"],
    ["2025-12-31T23:59:59", "December 2025"],
  ])("%s is %s", (time, label) => {
    expect(dayNames(NOW)(at(time))).toBe(label);
  });

  it("groups lines and keeps their order", () => {
    const lines = ["2026-03-10T08:00:00", "2026-03-10T07:00:00", "2025-03-01T00:00:00"];
    expect(groupByDay(lines, at, NOW)).toEqual([
      { label: "Today", lines: lines.slice(0, 2) },
      { label: "March 2025", lines: lines.slice(2) },
    ]);
    expect(groupByDay([], at, NOW)).toEqual([]);
  });
});
