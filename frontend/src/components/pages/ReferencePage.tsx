// The API reference, generated from the server's OpenAPI document.
import { useEffect, useState } from "react";
import { useMediaQuery, WIDE } from "../../hooks/mediaQuery.ts";
import { useScrollToAnchor } from "../../hooks/scrollToAnchor.ts";
import { serverPath } from "../../logic/baseUrl.ts";
import type { Reference } from "../../logic/pages/openapi.ts";
import { loadReference } from "../../state/server/openapiDocument.ts";
import { OperationView } from "./OperationView.tsx";
import { PageAlert, PageFrame } from "./PageFrame.tsx";
import { HEADING, Method, SchemaView } from "./SchemaView.tsx";

export function ReferencePage() {
  const [reference, setReference] = useState<Reference>();
  const [trouble, setTrouble] = useState<string>();

  useEffect(() => {
    loadReference().then(setReference, (error) => setTrouble(error instanceof Error ? error.message : String(error)));
  }, []);
  useScrollToAnchor(reference !== undefined);

  return (
    <PageFrame here="/docs" isWide>
      {trouble && <PageAlert>{trouble}</PageAlert>}
      {reference && (
        <article
          className="grid grid-cols-[minmax(0,1fr)] wide:grid-cols-[19rem_minmax(0,1fr)] wide:grid-rows-[auto_1fr] wide:gap-x-12"
          data-part="reference"
        >
          <Head reference={reference} />
          <Index reference={reference} />
          <Body reference={reference} />
        </article>
      )}
    </PageFrame>
  );
}

/** Links to every operation: beside the text in a wide window, otherwise folded below the title. */
function Index({ reference }: { reference: Reference }) {
  const isWide = useMediaQuery(WIDE);
  return (
    <nav
      aria-label="Operations"
      className="min-w-0 text-small wide:sticky wide:top-16 wide:col-start-1 wide:row-span-2 wide:row-start-1 wide:max-h-[calc(100dvh-5rem)] wide:self-start wide:overflow-y-auto"
    >
      {isWide ? (
        <Operations reference={reference} />
      ) : (
        <details className="mt-5 rounded-md border border-edge px-4">
          <summary className="-mx-4 cursor-pointer rounded-md px-4 py-2 font-semibold">Operations</summary>
          <div className="pt-1 pb-4">
            <Operations reference={reference} />
          </div>
        </details>
      )}
    </nav>
  );
}

function Operations({ reference: { groups } }: { reference: Reference }) {
  return (
    <ul className="grid grid-cols-2 gap-4 wide:grid-cols-1 narrow:grid-cols-1">
      {groups.map(({ name, operations }) => (
        <li key={name}>
          <p className="mb-1 font-semibold capitalize">{name}</p>
          <ul>
            {operations.map(({ id, method, path }) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  className="flex items-baseline gap-2 rounded-sm py-0.5 narrow:py-1.5 text-ink no-underline hover:bg-sunken"
                >
                  <Method name={method} />
                  <span className="wrap-anywhere">{path}</span>
                </a>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function Head({ reference: { title, version, summary } }: { reference: Reference }) {
  return (
    <div className="min-w-0 wide:col-start-2">
      <h1 className="font-semibold text-title">
        {title} API <span className="font-normal text-dim">{version}</span>
      </h1>
      <p className="mt-3 max-w-measure">{summary}</p>
      <p className="mt-3 max-w-measure">
        Machine-readable:{" "}
        <a className="underline" href={serverPath("/openapi.json")}>
          /openapi.json
        </a>
        . Guides:{" "}
        <a className="underline" href={serverPath("/guide/api.md")}>
          API guide
        </a>{" "}
        and{" "}
        <a className="underline" href={serverPath("/guide/sse-contract.md")}>
          event stream contract
        </a>
        .
      </p>
    </div>
  );
}

function Body({ reference: { groups, schemas } }: { reference: Reference }) {
  return (
    <div className="min-w-0 wide:col-start-2">
      {groups.map(({ name, operations }) => (
        <section key={name} aria-label={`${name} endpoints`}>
          <h2 className={HEADING}>{name}</h2>
          {operations.map((operation) => (
            <OperationView key={operation.id} operation={operation} />
          ))}
        </section>
      ))}
      <section aria-label="Schemas">
        <h2 className={HEADING}>Schemas</h2>
        {schemas.map((schema) => (
          <SchemaView key={schema.name} schema={schema} />
        ))}
      </section>
    </div>
  );
}
