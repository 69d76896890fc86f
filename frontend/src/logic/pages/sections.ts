// The sections of the operator page.

export const SECTIONS = [
  { name: "loop", words: "Tool loop" },
  { name: "rollout", words: "Rollout" },
  { name: "shadow", words: "Shadow mode" },
  { name: "runs", words: "Runs" },
  { name: "charts", words: "Charts" },
  { name: "spend", words: "Spend" },
  { name: "tokens", words: "Tokens" },
  { name: "sessions", words: "Sessions" },
  { name: "webhooks", words: "Webhooks" },
  { name: "audit", words: "Audit" },
] as const;

export type SectionName = (typeof SECTIONS)[number]["name"];

export const isSection = (name: string): name is SectionName => SECTIONS.some((section) => section.name === name);
