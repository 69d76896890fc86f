// The columns of a comparison: each answer with its model's label and the state of its run.

import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import type { PanelChoice } from "../../logic/answer/openPanels.ts";
import type { Lamp } from "../../logic/answer/stops.ts";
import { labelsOf, type ModelLabel } from "../../logic/models/modelLabels.ts";
import { endingOf } from "../../logic/wording/statusAndAmounts.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { AnswerState } from "../../state/answer/answerState.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { type AnswerPart, slotKey, slotOf } from "../../state/chat/chatParts.ts";
import type { Model } from "../../types/api.ts";

export interface ComparedProps {
  chat: Chat;
  /** The key of the answer that the next message follows. */
  chosen: string;
  panels: PanelChoice;
  actionsOf: (part: AnswerPart) => AnswerActions;
}

export interface Column {
  /** Stays the same when the answer is regenerated. */
  slot: string;
  part: AnswerPart;
  model: string;
  label: ModelLabel;
}

export function columnsOf(parts: readonly AnswerPart[], models: readonly Model[]): readonly Column[] {
  const slots = parts.map(slotOf);
  const ids = slots.map(({ model }) => model);
  const labels = labelsOf(models, ids);
  return parts.map((part, at) => {
    const { model, column } = slots[at] ?? slotOf(part);
    const label = labels.get(model) ?? { name: model, maker: "" };
    const isVariant = ids.filter((id) => id === model).length > 1;
    return {
      slot: slotKey({ model, column }),
      part,
      model,
      label: isVariant ? { name: `Variant ${(column ?? at) + 1}`, maker: label.name } : label,
    };
  });
}

/** The lamp for the state of the run. */
export const lampOf = ({ trace: { end } }: AnswerState): Lamp => (end ? endingOf(end).lamp : "running");

/** The provider that served the answer. Empty until it is known. */
export const providerOf = ({ trace: { end } }: AnswerState): string => end?.provider ?? "";

/** The answer ended without text and images, so no message can continue from it. */
export const isWithoutAnswer = (answer: Answer): boolean =>
  answer.isOver &&
  !answer.whole.items.some((item) => item.kind === "content" && (item.text.trim() || item.images?.length));
