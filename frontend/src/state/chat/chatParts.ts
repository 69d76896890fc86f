// The questions and answers of a chat, built from the server's data.
import { alternativesAlong, newestLeaf, type Part, pathTo } from "../../logic/chat/branchTree.ts";
import type { ChatNode, Conversation, Picture } from "../../types/api.ts";
import type { ChatMessage, ContentPart } from "../../types/models.ts";
import { Answer } from "../answer/answer.ts";
import type { AnswerDeps } from "../answer/answerState.ts";

export interface QuestionPart extends Part {
  kind: "question";
  /** The server's id. Undefined until it is known. */
  id: string | undefined;
  text: string;
  pictures: readonly Picture[];
  files: readonly string[];
  /** The system prompt that changed with this question. Undefined: the previous one applies. */
  system: string | undefined;
}

export interface AnswerPart extends Part {
  kind: "answer";
  answer: Answer;
  /** The column of a comparison. Undefined if the answer was not requested as part of one. */
  column: number | undefined;
}

export type ChatPart = QuestionPart | AnswerPart;

/** The place of an answer among the answers to its question. Variants of one model differ only in their column. */
export interface Slot {
  model: string;
  column: number | undefined;
}

export const slotOf = ({ answer, column }: AnswerPart): Slot => ({ model: answer.state.trace.model, column });

export const isSameSlot = (a: Slot, b: Slot): boolean => a.model === b.model && a.column === b.column;

/** A key of the slot, distinct among the answers to one question. */
export const slotKey = ({ model, column }: Slot): string => `${column ?? ""} ${model}`;

/** One row of the shown branch. */
export type Entry =
  | { kind: "question"; part: QuestionPart; alternatives: readonly ChatPart[] }
  | {
      kind: "answer";
      part: AnswerPart;
      alternatives: readonly ChatPart[];
      /** The answers shown side by side, including this one. Empty if it is shown alone. */
      beside: readonly AnswerPart[];
    };

export const MOST_BESIDE = 4;

/** The server's id of a part. Undefined if the server does not know it. */
export const idOf = (part: ChatPart): string | undefined =>
  part.kind === "question" ? part.id : part.answer.runId || undefined;

function partOf(node: ChatNode, { parent, continues }: Place, deps: AnswerDeps): ChatPart {
  const { id, text } = node;
  if (node.role === "assistant") {
    const answer = Answer.stored(deps, id, { text, run: node.run }, continues);
    return { kind: "answer", key: id, parent, answer, column: node.run?.column };
  }
  const { pictures, files, system } = node;
  return { kind: "question", key: id, parent, id, text, pictures, files, system };
}

interface Place {
  parent: string | null;
  continues: Answer | undefined;
}

/** A run that follows a run continues it: both answer the same question. */
function placeOf(parts: ReadonlyMap<string, ChatPart>, node: ChatNode, behind: string | null): Place {
  const before = behind === null ? undefined : parts.get(behind);
  const isMore = before?.kind === "answer" && node.role === "assistant" && node.run !== undefined;
  return isMore ? { parent: before.parent, continues: before.answer } : { parent: behind, continues: undefined };
}

interface Shown {
  parts: ReadonlyMap<string, ChatPart>;
  leaf: string | null;
}

/**
 * Merge the known parts with the server's. If the shown branch has grown, its new end is shown. `chosen` is the node that
 * the user has chosen last.
 */
export function merged(
  before: Shown,
  { leafId, nodes }: Conversation,
  deps: AnswerDeps,
  chosen: string | undefined = undefined,
): Shown {
  const keys = new Map([...before.parts.values()].map((part) => [idOf(part) ?? part.key, part.key]));
  const parts = new Map(before.parts);
  let shown = before.leaf;
  for (const node of nodes) {
    if (keys.has(node.id)) continue;
    const behind = node.parentId === null ? null : (keys.get(node.parentId) ?? node.parentId);
    const place = placeOf(parts, node, behind);
    const twin = twinOf(parts, node, place);
    if (twin?.kind === "question") parts.set(twin.key, { ...twin, id: node.id });
    else if (!twin?.answer.isLive) {
      const part = partOf(node, place, deps);
      if (twin) parts.delete(twin.key);
      if (twin && shown === twin.key) shown = part.key;
      parts.set(part.key, part);
    }
    keys.set(node.id, (twin?.kind === "question" || twin?.answer.isLive) && twin ? twin.key : node.id);
  }
  const end = keys.get(leafId ?? "");
  const leaf = shown ?? (leafId === chosen ? end : firstColumn(parts, end)) ?? [...parts.keys()].at(-1) ?? null;
  return { parts, leaf: leaf && newestLeaf(parts, leaf) };
}

/** The server's leaf is the column requested last. The page continues from the first column instead. */
function firstColumn(parts: ReadonlyMap<string, ChatPart>, leaf: string | undefined): string | undefined {
  const part = parts.get(leaf ?? "");
  if (part?.kind !== "answer" || part.column === undefined) return leaf;
  const answers = [...parts.values()].filter((one): one is AnswerPart => one.kind === "answer");
  const columns = answers.filter(({ parent, column }) => parent === part.parent && column !== undefined);
  // A regenerated column is the one that the user saw last.
  const isAskedAgain = columns.filter(({ column }) => column === part.column).length > 1;
  return isAskedAgain ? leaf : besideEachOther(columns)[0]?.key;
}

/** The part on this page that a node of the server corresponds to, if its response has not arrived yet. */
function twinOf(
  parts: ReadonlyMap<string, ChatPart>,
  node: ChatNode,
  { parent, continues }: Place,
): ChatPart | undefined {
  return [...parts.values()].find((part) => {
    if (part.parent !== parent || idOf(part) !== undefined) return false;
    if (node.role === "user") return part.kind === "question" && part.text === node.text;
    if (part.kind !== "answer" || part.answer.continues !== continues) return false;
    return node.run !== undefined && isSameSlot(slotOf(part), { model: node.run.model, column: node.run.column });
  });
}

/** The rows from the root to a leaf. */
export function entriesOf(
  parts: ReadonlyMap<string, ChatPart>,
  leaf: string | null,
  besides: ReadonlySet<string>,
): readonly Entry[] {
  const path = pathTo(parts, leaf);
  const alternatives = alternativesAlong(parts, path);
  const begun = begunAnswers(parts);
  return path.map((part, at): Entry => {
    const others = (alternatives[at] ?? []).filter((other) => other === part || !begun.has(other.key));
    if (part.kind === "question") return { kind: "question", part, alternatives: others };
    const beside = besides.has(part.parent ?? "") ? besideEachOther(others) : [];
    return { kind: "answer", part, alternatives: others, beside: beside.length > 1 ? beside : [] };
  });
}

/** Answers that others continue and that no question follows. They are shown as part of the continuation. */
function begunAnswers(parts: ReadonlyMap<string, ChatPart>): ReadonlySet<string> {
  const continued = new Set<Answer>();
  const followed = new Set<string | null>();
  for (const part of parts.values()) {
    if (part.kind === "question") followed.add(part.parent);
    else if (part.answer.continues) continued.add(part.answer.continues);
  }
  const isBegun = (part: ChatPart) => part.kind === "answer" && continued.has(part.answer) && !followed.has(part.key);
  return new Set([...parts.values()].filter(isBegun).map(({ key }) => key));
}

/** The newest answer of each slot, in the order in which the models were chosen. */
function besideEachOther(answers: readonly ChatPart[]): readonly AnswerPart[] {
  const bySlot = new Map<string, AnswerPart>();
  for (const part of answers) if (part.kind === "answer") bySlot.set(slotKey(slotOf(part)), part);
  const place = ({ column = Number.POSITIVE_INFINITY }: AnswerPart) => column;
  // A model that was asked later has no column and comes last.
  return [...bySlot.values()]
    .sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0))
    .slice(-MOST_BESIDE);
}

/** The column of a model's answers to a question. */
export function columnOf(parts: ReadonlyMap<string, ChatPart>, question: string, model: string): number | undefined {
  const answers = [...parts.values()].filter((part) => part.kind === "answer" && part.parent === question);
  return answers.find((part): part is AnswerPart => part.kind === "answer" && part.answer.state.trace.model === model)
    ?.column;
}

/** The questions that were sent to several models at once. */
export function comparedIn(parts: ReadonlyMap<string, ChatPart>): ReadonlySet<string> {
  const columns = new Map<string, Set<number>>();
  for (const part of parts.values()) {
    if (part.kind !== "answer" || part.column === undefined || part.parent === null) continue;
    columns.set(part.parent, (columns.get(part.parent) ?? new Set()).add(part.column));
  }
  return new Set([...columns].flatMap(([question, places]) => (places.size > 1 ? [question] : [])));
}

/** The system prompt at the end of a path. */
export const systemAt = (path: readonly ChatPart[]): string | undefined =>
  path.findLast((part): part is QuestionPart => part.kind === "question" && part.system !== undefined)?.system;

export function messageOf({ text, pictures }: Pick<QuestionPart, "text" | "pictures">): ChatMessage {
  if (pictures.length === 0) return { role: "user", content: text };
  const shown = pictures.map(({ url }): ContentPart => ({ type: "image_url", image_url: { url } }));
  return { role: "user", content: [...(text ? [{ type: "text", text } as const] : []), ...shown] };
}
