// Facts about a model from the catalogue.
import type { ReactNode } from "react";
import { isFree, perMillion, tokenText } from "../../logic/models/modelSearch.ts";
import { count } from "../../logic/wording/statusAndAmounts.ts";
import type { Model, Pricing } from "../../types/api.ts";

export function ModelDetails({ model }: { model: Model }) {
  const { id, name, context, maxOutput, pricing, parameters, isGone } = model;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-small" data-part="model-details">
      <Row term="Name">{name}</Row>
      <Row term="ID">
        <span className="break-all font-mono text-tiny">{id}</span>
      </Row>
      {isGone && (
        <Row term="Availability">
          Not in the model list. It may no longer be available: choose another model at the top of the chat.
        </Row>
      )}
      <Row term="Context window">{context === undefined ? "unknown" : <Tokens amount={context} />}</Row>
      <Row term="Longest answer">{maxOutput === undefined ? "unknown" : <Tokens amount={maxOutput} most />}</Row>
      <Row term="Price">{priceSentence(pricing)}</Row>
      <Row term="Parameters">
        {parameters.length === 0 ? (
          "unknown, so all your settings are sent"
        ) : (
          <span className="font-mono text-tiny">{parameters.join(", ")}</span>
        )}
      </Row>
    </dl>
  );
}

function Row({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-dim">{term}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

function Tokens({ amount, most = false }: { amount: number; most?: boolean }) {
  return (
    <span className="tabular-nums" title={`${count(amount)} tokens`}>
      {most ? "at most " : ""}
      {tokenText(amount)} tokens
    </span>
  );
}

function priceSentence(pricing: Pricing): string {
  const { prompt, completion } = pricing;
  if (prompt === undefined && completion === undefined) return "unknown";
  if (isFree(pricing)) return "free";
  const words = (usd: number | undefined) => (usd === undefined ? "?" : perMillion(usd));
  return `${words(prompt)} input, ${words(completion)} output, per million tokens`;
}
