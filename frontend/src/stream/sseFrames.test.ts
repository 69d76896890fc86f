import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventsOf, fixtures, traceOf } from "../fixtures/read.ts";
import { Cursor, type Frame, FrameReader, seqOf } from "./sseFrames.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe.each(fixtures)("%s", (_, whole) => {
  const expected = eventsOf(whole);

  it("has events, the last of them done", () => {
    expect(expected.length).toBeGreaterThan(1);
    expect(expected.at(-1)?.type).toBe("done");
  });

  it("is complete: each word once, each call with one result, and an end", () => {
    const { items, end } = traceOf(expected);
    for (const kind of ["content", "reasoning"] as const) {
      const said = expected.map((event) => (event.type === kind ? event.content : "")).join("");
      expect(items.map((item) => (item.kind === kind ? item.text : "")).join("")).toBe(said);
    }
    const calls = expected.flatMap((event) => (event.type === "tool_calls" ? event.calls : []));
    const shown = items.flatMap((item) => (item.kind === "call" ? [item] : []));
    expect(shown.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    expect(shown.filter(({ status }) => status === "waiting" || status === "running")).toEqual([]);
    expect(expected.at(-1)).toMatchObject({ type: "done", status: end?.status });
  });

  it("reads the same wherever it is cut in two", () => {
    const text = JSON.stringify(expected);
    // Long golden streams are cut at every byte of their beginning. After it, the shapes repeat.
    const last = Math.min(whole.length, 12_000);
    for (let cut = 1; cut < last; cut++) {
      const read = eventsOf(whole.subarray(0, cut), whole.subarray(cut));
      if (read.length !== expected.length || JSON.stringify(read) !== text) expect.fail(`differs when cut at ${cut}`);
    }
  });

  it("reads the same one byte at a time", () => {
    expect(eventsOf(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it("reads the same in any pieces", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const reads: Uint8Array[] = [];
        let from = 0;
        for (const length of lengths) {
          reads.push(whole.subarray(from, from + length));
          from += length;
        }
        expect(eventsOf(...reads, whole.subarray(from))).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });
});

describe("other lines of a stream", () => {
  it.each([
    ["a byte order mark", '\uFEFFdata: {"type":"content","content":"a"}\n\n'],
    ["comments and a retry", ': ping\n\nretry: 100\ndata: {"type":"content","content":"a"}\n\n: bye\n\n'],
    ["carriage returns", 'data: {"type":"content","content":"a"}\r\n\r\n'],
    ["an unknown type", 'data: {"type":"hologram","content":"b"}\n\ndata: {"type":"content","content":"a"}\n\n'],
    ["what is no JSON", 'data: [DONE]\n\ndata: {"type":"content","content":"a"}\n\n'],
    ["an unfinished frame at the end", 'data: {"type":"content","content":"a"}\n\ndata: {"type":"content","con'],
    ["a frame without its minimum", 'data: {"type":"content"}\n\ndata: {"type":"content","content":"a"}\n\n'],
  ])("reads past %s", (_, text) => {
    expect(eventsOf(bytes(text))).toEqual([{ type: "content", content: "a" }]);
  });
});

describe("the sequence number", () => {
  it.each([
    ["abc:12", 12],
    ["abc", undefined],
    ["abc:", undefined],
    ["abc:1x", undefined],
    ["", undefined],
  ])("of %j is %j", (id, seq) => {
    expect(seqOf(id)).toBe(seq);
  });

  it("is taken from each frame", () => {
    const frames: Frame[] = [];
    new FrameReader((frame) => frames.push(frame)).feed(bytes('data: {"type":"content","content":"a"}\nid: r:7\n\n'));
    expect(frames.map(({ id, seq }) => [id, seq])).toEqual([["r:7", 7]]);
  });

  it("drops repeated frames, allows gaps, and accepts frames without a number", () => {
    const cursor = new Cursor();
    const event = { type: "content", content: "a" } as const;
    const accepted = [1, 1, 3, 2, undefined, 4].filter((seq) => cursor.accept({ id: `r:${seq}`, seq, event }));
    expect(accepted).toEqual([1, 3, undefined, 4]);
    expect(cursor.lastId).toBe("r:4");
  });
});
