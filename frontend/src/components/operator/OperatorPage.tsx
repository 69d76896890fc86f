// The operator page: its sections, and the token that they need.
import { type ComponentType, useEffect, useState } from "react";
import type { SectionName } from "../../logic/pages/sections.ts";
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
import { SessionsSection } from "./sessions/SessionsSection.tsx";
import { ShadowSection } from "./shadow/ShadowSection.tsx";
import { SpendSection } from "./spend/SpendSection.tsx";
import { TokensSection } from "./tokens/TokensSection.tsx";
import { WebhooksSection } from "./webhooks/WebhooksSection.tsx";

/** The sections that only the operator sees. */
const GUARDED: Partial<Record<SectionName, { what: string; Section: ComponentType<{ operator: Operator }> }>> = {
  rollout: { what: "the rollout", Section: RolloutSection },
  shadow: { what: "shadow mode", Section: ShadowSection },
  spend: { what: "what runs cost", Section: () => <SpendSection /> },
  tokens: { what: "API tokens", Section: TokensSection },
  sessions: { what: "sessions", Section: SessionsSection },
  webhooks: { what: "webhooks", Section: WebhooksSection },
  audit: { what: "the audit log", Section: AuditSection },
};

export function OperatorPage() {
  const [place] = useState(() => new Place());
  const { section, filter } = useStore(place);
  const [operator] = useState(() => new Operator(filter));
  const state = useStore(operator);

  useEffect(() => operator.start(), [operator]);
  useEffect(() => place.follow(), [place]);
  useEffect(() => operator.setFilter(filter), [operator, filter]);

  const isOperator = state.asOf === undefined ? undefined : state.isAll;
  const guarded = GUARDED[section];
  const ownSpend = section === "spend" && state.isOwn;
  return (
    <PageFrame here="/operator" isWide>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
        <h1 className="sr-only">Operator</h1>
        <SectionNav here={section} />
        {state.trouble && <StaleNotice state={state} onToken={() => operator.askForToken()} />}
        {state.asOf === undefined && !state.trouble && <p className="text-dim">Loading…</p>}
        {section === "loop" && <LoopSection operator={operator} />}
        {ownSpend && <OwnSpend onToken={() => operator.showAll()} />}
        {guarded && !ownSpend && (
          <OperatorOnly isOperator={isOperator} what={guarded.what} onToken={() => operator.showAll()}>
            <guarded.Section operator={operator} />
          </OperatorOnly>
        )}
        {section === "runs" && <RunsSection operator={operator} place={place} />}
        {section === "charts" && isOperator !== undefined && (
          // Another token shows other runs.
          <ChartsSection key={String(isOperator)} place={place} isAll={isOperator} isOwn={state.isOwn} />
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

/** What the runs of the API token cost, or of the person who is signed in. */
const OwnSpend = ({ onToken }: { onToken: () => void }) => (
  <>
    <SpendSection isOwn />
    <div>
      <Button look="outline" size="medium" onClick={onToken}>
        Enter the operator token
      </Button>
    </div>
  </>
);

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
