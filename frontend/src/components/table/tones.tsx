// Tones of badges, statuses, booleans and changes. Each has its own sign, so that colour is never the only difference.
// The signs are in styles/table.css: an icon per cell would double the elements of a table.
import type { ReactNode } from "react";

export type Tone = "success" | "warning" | "danger" | "info" | "neutral";

const SIGNS: Record<Tone, string> = {
  success: "sign sign-success",
  warning: "sign sign-warning",
  danger: "sign sign-danger",
  info: "sign sign-info",
  neutral: "",
};

export function ToneBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <bdi
      data-tone={tone}
      className={`inline-block max-w-full truncate rounded-full border border-edge px-2 align-middle text-tiny leading-[1.125rem] ${SIGNS[tone]}`}
    >
      {children}
    </bdi>
  );
}

/** A change: its sign is part of the text, and good and bad changes differ by an icon. */
export function ToneText({ tone, children }: { tone: "success" | "danger" | "neutral"; children: ReactNode }) {
  return (
    <span data-tone={tone} className={tone === "neutral" ? "sign sign-unchanged" : SIGNS[tone]}>
      {children}
    </span>
  );
}

export function BooleanMark({ value, text }: { value: boolean; text: string }) {
  return <bdi className={value ? "sign sign-success" : "sign sign-no"}>{text}</bdi>;
}
