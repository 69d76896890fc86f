import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEvent } from "../src/requests/parseEvent.ts";
import { Cursor, type Frame, FrameReader, seqOf } from "../src/requests/sseFrames.ts";
import { eventsOf, fixtures } from "./fixtures/streams.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe.each(fixtures)("%s", (_, whole) => {
  const expected = eventsOf(whole);

  it("has events, the last of them done", () => {
    expect(expected.length).toBeGreaterThan(1);
    expect(expected.at(-1)?.type).toBe("done");
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

describe("any text", () => {
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom(
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "data",
        "data:",
        "data: ",
        "id:",
        "id: r:1",
        ":",
        " ",
        "event: x",
        "\0",
      ),
      fc.constantFrom('{"type":"content",', '"content":"a"}', '{"type":"content","content":"b"}', "é", "😀"),
    ),
    { maxLength: 40 },
  );

  it("is split into the same frames as by eventsource-parser, in any pieces", () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (texts, sizes) => {
        const text = `${texts.join("")}\n`;
        const whole = bytes(text);
        const expected: unknown[] = [];
        const oracle = createParser({
          onEvent: ({ id = "", data }) => {
            const event = parseEvent(data);
            if (event) expected.push({ id, seq: seqOf(id), event });
          },
        });
        oracle.feed(text);
        const frames: Frame[] = [];
        const reader = new FrameReader((frame) => frames.push(frame));
        for (let start = 0, turn = 0; start < whole.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          reader.feed(whole.subarray(start, start + size));
          start += size;
        }
        expect(frames).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});
