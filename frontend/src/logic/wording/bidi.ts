// Isolates text of unknown direction in a sentence.

const FIRST_STRONG_ISOLATE = "\u2068";
const POP_ISOLATE = "\u2069";

/** Like `<bdi>`, but for plain strings: a title in Arabic does not reorder the sentence around it. */
export const isolated = (text: string): string => `${FIRST_STRONG_ISOLATE}${text}${POP_ISOLATE}`;
