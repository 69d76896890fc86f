// Tones of badges, statuses, booleans and changes. Each has its own shape, so that colour is never the only sign.
import { Check, CircleAlert, Info, Minus, TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";

export type Tone = "success" | "warning" | "danger" | "info" | "neutral";

const ICONS = { success: Check, warning: TriangleAlert, danger: CircleAlert, info: Info, neutral: undefined } as const;

const INKS: Record<Tone, string> = {
  success: "text-lamp-done",
  warning: "text-lamp-running",
  danger: "text-lamp-failed",
  info: "text-lamp-blue",
  neutral: "text-dim",
};

export function ToneBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  const Icon = ICONS[tone];
  return (
    <span
      data-tone={tone}
      className="inline-flex max-w-full items-center gap-1 rounded-full border border-edge px-2 text-tiny leading-[1.125rem]"
    >
      {Icon && <Icon aria-hidden="true" className={`size-3 shrink-0 ${INKS[tone]}`} />}
      <bdi className="min-w-0 truncate">{children}</bdi>
    </span>
  );
}

/** A change: its sign is part of the text, and good and bad changes differ by an icon. */
export function ToneText({ tone, children }: { tone: "success" | "danger" | "neutral"; children: ReactNode }) {
  const Icon = { success: Check, danger: CircleAlert, neutral: Minus }[tone];
  return (
    <span data-tone={tone} className="inline-flex items-center gap-1">
      <Icon aria-hidden="true" className={`size-3 shrink-0 ${INKS[tone]}`} />
      {children}
    </span>
  );
}

export function BooleanMark({ value, text }: { value: boolean; text: string }) {
  const Icon = value ? Check : X;
  return (
    <span className="inline-flex items-center gap-1">
      <Icon aria-hidden="true" className={`size-3.5 shrink-0 ${value ? INKS.success : INKS.neutral}`} />
      <bdi>{text}</bdi>
    </span>
  );
}
