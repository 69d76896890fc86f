import { describe, expect, it } from "vitest";
import { filterParameters, filterQuery, readFilter, withField } from "./runFilter.ts";

describe("the filter of runs", () => {
  it("survives the way through an address, which may have other fields", () => {
    const filter = { status: "error", model: "a/b", owner: "", period: "7d" };
    expect(readFilter(filterQuery(filter))).toEqual(filter);
    expect(readFilter("?loop=v2&model=&other=1")).toEqual({ loop: "v2" });
    expect(filterQuery({})).toBe("");
  });

  it("removes a field that is emptied, except the owner of runs without a token", () => {
    expect(withField({ q: "a", loop: "v2" }, "q", "")).toEqual({ loop: "v2" });
    expect(withField({}, "owner", "")).toEqual({ owner: "" });
    expect(withField({ owner: "" }, "owner", undefined)).toEqual({});
  });

  it("sends a period as its beginning, and local times as UTC", () => {
    expect(filterParameters({ period: "1h", loop: "v2" }, 7_200_500)).toEqual([
      ["loop", "v2"],
      ["since", "3600"],
    ]);
    const local = "2026-11-28T06:00";
    expect(filterParameters({ since: local }, 0)).toEqual([["since", new Date(local).toISOString()]]);
    expect(filterParameters({ until: "soon" }, 0)).toEqual([["until", "soon"]]);
  });
});
