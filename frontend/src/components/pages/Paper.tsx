// The frame of every page beside the chat: where one is, and the way back.
import type { ReactNode } from "react";

const PLACES = [
  ["/", "Chat"],
  ["/guide/", "Guide"],
  ["/docs", "API"],
  ["/operator", "Operator"],
] as const;

export function Paper({ here, children }: { here: string; children: ReactNode }) {
  return (
    <>
      <header className="header">
        <a className="brand" href="/">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M5 2v16" />
            <circle cx="5" cy="6" r="2.75" />
            <circle cx="5" cy="14" r="2.75" />
            <path d="M10.5 6H17m-6.5 8H15" />
          </svg>
          <span>Signalbox</span>
        </a>
        <nav className="places" aria-label="Pages">
          {PLACES.map(([href, name]) => (
            <a key={href} href={href} aria-current={href === here ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
      </header>
      <main className="paper">{children}</main>
    </>
  );
}
