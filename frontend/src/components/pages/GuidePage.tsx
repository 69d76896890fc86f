// Shows a document of the guide, or a note. Programs get its text at the same address.
import { useEffect, useMemo, useState } from "react";
import { useScrollToAnchor } from "../../hooks/scrollToAnchor.ts";
import { type DocumentText, documentOf } from "../../logic/pages/documents.ts";
import { GuideDocument } from "../../state/server/guideDocument.ts";
import { useStore } from "../../state/store.ts";
import { MarkdownDocument } from "../markdown/Document.tsx";
import { HtmlDocument } from "../markdown/HtmlDocument.tsx";
import { AccessDialog } from "./AccessDialog.tsx";
import { PageAlert, PageFrame } from "./PageFrame.tsx";

export function GuidePage({ path }: { path: string }) {
  const [reader] = useState(() => new GuideDocument(path));
  const { text, trouble, tokenNeeded, tokenRefused } = useStore(reader);
  const page = useMemo(() => (text === undefined ? undefined : documentOf(path, text)), [path, text]);

  useEffect(() => void reader.load(), [reader]);
  useEffect(() => {
    if (page?.title) document.title = `${page.title} · Signalbox`;
  }, [page]);
  useScrollToAnchor(page !== undefined);

  return (
    <PageFrame here={path === "/guide/README.md" ? "/guide/" : path}>
      {trouble && <PageAlert>{trouble}</PageAlert>}
      {page && (
        <article className="prose document">
          <Body page={page} path={path} />
        </article>
      )}
      <AccessDialog
        open={tokenNeeded}
        refused={tokenRefused}
        onToken={(token, remember) => reader.takeToken(token, remember)}
        onClose={() => reader.giveUp()}
      />
    </PageFrame>
  );
}

function Body({ page, path }: { page: DocumentText; path: string }) {
  switch (page.kind) {
    case "markdown":
      return <MarkdownDocument text={page.body} base={path} />;
    case "html":
      return <HtmlDocument html={page.body} />;
    case "text":
      return <pre className="whitespace-pre-wrap font-mono text-small wrap-anywhere">{page.body}</pre>;
  }
}
