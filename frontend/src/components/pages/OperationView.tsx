// One operation of the API: description, parameters, a curl example and responses.
import { BASE_URL } from "../../logic/baseUrl.ts";
import { curlOf, type Operation } from "../../logic/pages/openapi.ts";
import { Code } from "../markdown/code/CodeBlock.tsx";
import { InlineCodeText } from "./InlineCodeText.tsx";
import { Fields, Method, PART, PART_HEAD } from "./SchemaView.tsx";

export function OperationView({ operation }: { operation: Operation }) {
  const { id, method, path, words, parameters, body, examples, answers } = operation;
  const [first, ...others] = examples;
  return (
    <section className={PART} aria-labelledby={id}>
      <h3 id={id} className={PART_HEAD}>
        <Method name={method} /> <code className="wrap-anywhere">{path}</code>
      </h3>
      <p className="max-w-measure">
        <InlineCodeText>{words}</InlineCodeText>
      </p>
      {parameters.length > 0 && <Fields label={`Parameters of ${method} ${path}`} fields={parameters} />}
      {body && (
        <p>
          Request body:{" "}
          <a className="underline" href={`#schema-${body}`}>
            {body}
          </a>
          .
        </p>
      )}
      <Code language={first ? `sh · ${first.name}` : "sh"}>{curlOf(operation, `${location.origin}${BASE_URL}`)}</Code>
      {others.map(({ name, text }) => (
        <Code key={name} language={`sh · ${name}`}>
          {curlOf(operation, `${location.origin}${BASE_URL}`, text)}
        </Code>
      ))}
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Responses">
        {answers.map((answer) => (
          <li key={answer.status} className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
            <span>
              <code className="me-2 rounded-sm bg-sunken px-1.5 py-0.5 text-tiny">{answer.status}</code>{" "}
              <InlineCodeText>{answer.words}</InlineCodeText>
            </span>
            {answer.example && <Code language="answer">{answer.example}</Code>}
          </li>
        ))}
      </ul>
    </section>
  );
}
