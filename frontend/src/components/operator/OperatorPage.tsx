// The operator page: its sections, and the token that they need.
import { useEffect, useState } from "react";
import { Operator, type OperatorState } from "../../state/operator/operator.ts";
import { Place } from "../../state/operator/place.ts";
import { useStore } from "../../state/store.ts";
import { AccessDialog } from "../pages/AccessDialog.tsx";
import { PageAlert, PageFrame } from "../pages/PageFrame.tsx";
import { Button } from "../ui/Button.tsx";
import { AuditSection } from "./audit/AuditSection.tsx";
import { ChartsSection } from "./charts/ChartsSection.tsx";
import { LoopSection } from "./loop/LoopSection.tsx";
import { OperatorOnly } from "./OperatorOnly.tsx";
import { RolloutSection } from "./rollout/RolloutSection.tsx";
import { RunsSection } from "./runs/RunsSection.tsx";
import { SectionNav } from "./SectionNav.tsx";
import { SpendSection } from "./spend/SpendSection.tsx";
import { TokensSection } from "./tokens/TokensSection.tsx";
import { WebhooksSection } from "./webhooks/WebhooksSection.tsx";

export function OperatorPage() {
  const [place] = useState(() => new Place());
  const { section, filter } = useStore(place);
  const [operator] = useState(() => new Operator(filter));
  const state = useStore(operator);

  useEffect(() => operator.start(), [operator]);
  useEffect(() => place.follow(), [place]);
  useEffect(() => operator.setFilter(filter), [operator, filter]);

  const isOperator = state.asOf === undefined ? undefined : state.isAll;
  const guard = { isOperator, onToken: () => operator.showAll() };
  return (
    <PageFrame here="/operator" isWide>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
        <h1 className="sr-only">Operator</h1>
        <SectionNav here={section} />
        {state.trouble && <StaleNotice state={state} onToken={() => operator.askForToken()} />}
        {state.asOf === undefined && !state.trouble && <p className="text-dim">Loading…</p>}
        {section === "loop" && <LoopSection operator={operator} />}
        {section === "rollout" && (
          <OperatorOnly {...guard} what="the rollout">
            <RolloutSection />
          </OperatorOnly>
        )}
        {section === "runs" && <RunsSection operator={operator} place={place} />}
        {section === "charts" && isOperator !== undefined && (
          // Another token shows other runs.
          <ChartsSection key={String(isOperator)} place={place} isAll={isOperator} />
        )}
        {section === "spend" && (
          <OperatorOnly {...guard} what="what runs cost">
            <SpendSection />
          </OperatorOnly>
        )}
        {section === "tokens" && (
          <OperatorOnly {...guard} what="API tokens">
            <TokensSection />
          </OperatorOnly>
        )}
        {section === "webhooks" && (
          <OperatorOnly {...guard} what="webhooks">
            <WebhooksSection />
          </OperatorOnly>
        )}
        {section === "audit" && (
          <OperatorOnly {...guard} what="the audit log">
            <AuditSection />
          </OperatorOnly>
        )}
      </div>
      <AccessDialog
        open={state.tokenNeeded}
        refused={state.tokenRefused}
        onToken={(token) => operator.takeToken(token)}
        onClose={() => operator.giveUp()}
        title="This needs the operator token."
        hint="Find it on the server with cat data/admin-token, or use the value of SIGNALBOX_ADMIN_TOKEN if that is set. It stays in this tab only."
        label="Operator token"
        mayRemember={false}
      />
    </PageFrame>
  );
}

/** Why the data may be outdated, and from when it is. */
function StaleNotice({ state: { trouble, asOf, isLocked }, onToken }: { state: OperatorState; onToken: () => void }) {
  return (
    <PageAlert>
      {trouble} {asOf !== undefined && `Last updated at ${new Date(asOf).toLocaleTimeString()}. `}
      {isLocked ? (
        <Button look="outline" className="ms-2" onClick={onToken}>
          Enter token
        </Button>
      ) : (
        "Retrying every 5 seconds."
      )}
    </PageAlert>
  );
}
