// A section of the settings.
import type { ReactNode } from "react";

export function SettingsGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2 border-edge border-b px-4 py-4 last:border-b-0" aria-label={title}>
      <h3 className="font-semibold text-small">{title}</h3>
      {children}
    </section>
  );
}
