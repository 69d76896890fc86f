// The frame of all pages except the chat: header and navigation.
import type { ReactNode } from "react";
import { serverPath } from "../../logic/baseUrl.ts";
import { Brand } from "../ui/Brand.tsx";

const PLACES = [
  ["/", "Chat"],
  ["/guide/", "Guide"],
  ["/docs", "API"],
  ["/operator", "Operator"],
] as const;

const PLACE =
  "rounded-sm px-2.5 py-1 text-dim no-underline transition-colors hover:bg-sunken hover:text-ink aria-[current]:bg-sunken aria-[current]:font-medium aria-[current]:text-ink narrow:px-2 narrow:py-1.5";

interface Props {
  here: string;
  /** Leaves space for an index beside the text. */
  isWide?: boolean;
  children: ReactNode;
}

export function PageFrame({ here, isWide = false, children }: Props) {
  return (
    // The frame is as high as its content, so that the header stays visible all the way.
    <div className="min-h-full">
      <header className="sticky top-0 z-10 flex h-12 items-center gap-6 border-edge border-b bg-ground px-4 text-small narrow:gap-1.5 narrow:px-2">
        <a
          className="flex min-h-8 min-w-8 items-center justify-center gap-2 rounded-sm font-semibold text-ink no-underline"
          href={serverPath("/")}
        >
          <Brand />
          <span className="narrow:sr-only">Signalbox</span>
        </a>
        <nav className="flex gap-1 narrow:gap-0" aria-label="Pages">
          {PLACES.map(([href, name]) => (
            <a key={href} href={serverPath(href)} className={PLACE} aria-current={currentOf(href, here)}>
              {name}
            </a>
          ))}
        </nav>
      </header>
      <main className={`mx-auto px-5 pt-8 pb-20 narrow:px-4 narrow:pt-6 ${isWide ? "max-w-6xl" : "max-w-4xl"}`}>
        {children}
      </main>
    </div>
  );
}

/** A document is not the guide's first page, but part of the guide. */
function currentOf(href: string, here: string): "page" | "true" | undefined {
  if (href === here) return "page";
  return href !== "/" && here.startsWith(href) ? "true" : undefined;
}

/** An error in place of the content, or above outdated content. */
export function PageAlert({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="rounded-md border border-red-edge bg-red-wash px-3.5 py-2.5 text-red-ink text-small">
      {children}
    </p>
  );
}
