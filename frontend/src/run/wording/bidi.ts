// Text of unknown direction within a sentence of ours.

const FIRST_STRONG_ISOLATE = "\u2068";
const POP_ISOLATE = "\u2069";

/** For plain strings, what `<bdi>` is for elements: a title in Arabic does not reorder the sentence around it. */
export const isolated = (text: string): string => `${FIRST_STRONG_ISOLATE}${text}${POP_ISOLATE}`;
