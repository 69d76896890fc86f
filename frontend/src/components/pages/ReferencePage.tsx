// The API reference, made of the server's own description of itself.
import { useEffect, useState } from "react";
import { readReference } from "../../hooks/reference.ts";
import { curlOf, type Field, type Operation, type Reference, type Schema } from "../../run/openapi.ts";
import { Code } from "../prose/Code.tsx";
import { Paper } from "./Paper.tsx";

export function ReferencePage() {
  const [reference, setReference] = useState<Reference>();
  const [trouble, setTrouble] = useState<string>();

  useEffect(() => {
    readReference().then(setReference, (error) => setTrouble(error instanceof Error ? error.message : String(error)));
  }, []);
  useEffect(() => {
    // The browser looked for the anchor before the text was there.
    if (reference && location.hash) location.replace(location.hash);
  }, [reference]);

  return (
    <Paper here="/docs">
      {trouble && (
        <p className="error-box" role="alert">
          {trouble}
        </p>
      )}
      {reference && <Body reference={reference} />}
    </Paper>
  );
}

function Body({ reference: { title, version, summary, groups, schemas } }: { reference: Reference }) {
  return (
    <article className="prose document reference">
      <h1>
        {title} API <span className="dim">{version}</span>
      </h1>
      <p>{summary}</p>
      <p>
        For programs: <a href="/openapi.json">/openapi.json</a>. In words: <a href="/guide/api.md">the API's page</a>{" "}
        and <a href="/guide/sse-contract.md">the stream's contract</a>.
      </p>
      <nav aria-label="Operations">
        <ul className="operations">
          {groups.flatMap(({ operations }) =>
            operations.map(({ id, method, path }) => (
              <li key={id}>
                <a href={`#${id}`}>
                  <span className="method">{method}</span> {path}
                </a>
              </li>
            )),
          )}
        </ul>
      </nav>
      {groups.map(({ name, operations }) => (
        <section key={name} aria-label={name}>
          <h2>{name}</h2>
          {operations.map((operation) => (
            <OperationView key={operation.id} operation={operation} />
          ))}
        </section>
      ))}
      <section aria-label="Schemas">
        <h2>Schemas</h2>
        {schemas.map((schema) => (
          <SchemaView key={schema.name} schema={schema} />
        ))}
      </section>
    </article>
  );
}

function OperationView({ operation }: { operation: Operation }) {
  const { id, method, path, words, parameters, body, examples, answers } = operation;
  const [first, ...others] = examples;
  return (
    <section className="operation" aria-labelledby={id}>
      <h3 id={id}>
        <span className="method">{method}</span> <code>{path}</code>
      </h3>
      <p>{words}</p>
      {parameters.length > 0 && <Fields label={`Parameters of ${path}`} fields={parameters} />}
      {body && (
        <p>
          The body is a <a href={`#schema-${body}`}>{body}</a>.
        </p>
      )}
      <Code language={first ? `sh · ${first.name}` : "sh"}>{curlOf(operation, location.origin)}</Code>
      {others.map(({ name, text }) => (
        <Code key={name} language={`sh · ${name}`}>
          {curlOf(operation, location.origin, text)}
        </Code>
      ))}
      <ul className="answers">
        {answers.map((answer) => (
          <li key={answer.status}>
            <code>{answer.status}</code> {answer.words}
            {answer.example && <Code language="answer">{answer.example}</Code>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function SchemaView({ schema: { name, description, fields, type } }: { schema: Schema }) {
  return (
    <section className="operation" aria-labelledby={`schema-${name}`}>
      <h3 id={`schema-${name}`}>
        <code>{name}</code>
      </h3>
      {description && <p>{description}</p>}
      {fields.length > 0 ? <Fields label={`Fields of ${name}`} fields={fields} /> : <p className="dim">{type}</p>}
    </section>
  );
}

function Fields({ label, fields }: { label: string; fields: readonly Field[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
    <section className="table" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">is</th>
            <th scope="col">means</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <tr key={`${field.place} ${field.name}`}>
              <td>
                <code>{field.name}</code>
              </td>
              <td>
                <TypeText field={field} />
              </td>
              <td>
                {[field.place && `in the ${field.place}`, field.required && "required", field.description]
                  .filter(Boolean)
                  .join(" · ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The type, with the schemas in it as links. */
function TypeText({ field: { type, schemas } }: { field: Field }) {
  const names = new Set(schemas);
  return type.split(/\b/).map((word, index) =>
    names.has(word) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the words of a type do not move.
      <a key={index} href={`#schema-${word}`}>
        {word}
      </a>
    ) : (
      word
    ),
  );
}
