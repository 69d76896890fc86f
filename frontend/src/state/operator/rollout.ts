// The rollout of the V2 loop: loads it every few seconds, and changes the plan.
import type { Figures, NewPlan, Plan, Rollout, Tally } from "../../types/rollout.ts";
import { Store } from "../store.ts";
import { fields, type Json, known, list, number, sendJson, sentenceOf, text } from "./request.ts";

export interface RolloutState {
  /** Undefined until it is loaded. */
  rollout: Rollout | undefined;
  trouble: string | undefined;
  /** Why the plan was not changed. */
  refusal: string | undefined;
  isSaving: boolean;
}

const EVERY_MS = 5000;
const PATH = "/api/rollout";

export const fetchRollout = async (): Promise<Rollout> => parseRollout(await sendJson("GET", PATH));

export class RolloutStore extends Store<RolloutState> {
  constructor() {
    super({
      rollout: undefined,
      trouble: undefined,
      refusal: undefined,
      isSaving: false,
    });
  }

  /** Load now and every few seconds, unless the page is hidden. */
  start(): () => void {
    void this.load();
    const timer = setInterval(() => !document.hidden && void this.load(), EVERY_MS);
    return () => clearInterval(timer);
  }

  async load(): Promise<void> {
    try {
      this.set({ rollout: await fetchRollout(), trouble: undefined });
    } catch (error) {
      this.set({ trouble: sentenceOf(error) });
    }
  }

  /** Start a rollout, or replace the running one. Resolves to whether the server has done it. */
  begin(plan: NewPlan): Promise<boolean> {
    return this.#change("PUT", plan);
  }

  /** End the rollout. The flag stays as it is. */
  end(): Promise<boolean> {
    return this.#change("DELETE");
  }

  async #change(method: string, body?: object): Promise<boolean> {
    this.set({ isSaving: true, refusal: undefined });
    try {
      this.set({ rollout: parseRollout(await sendJson(method, PATH, body)) });
    } catch (error) {
      this.set({ isSaving: false, refusal: sentenceOf(error) });
      return false;
    }
    this.set({ isSaving: false });
    return true;
  }
}

function parseRollout({ plan, assessment, report }: Json): Rollout {
  const { evidence, threshold, watch, figures } = fields(report);
  return {
    plan: plan ? parsePlan(fields(plan)) : undefined,
    assessment: text(assessment),
    evidence: known(evidence),
    threshold: known(threshold),
    watch: watch ? { evidence: number(fields(watch).evidence), threshold: number(fields(watch).threshold) } : undefined,
    figures: Object.entries(fields(figures)).map(([window, loops]) => parseFigures(window, fields(loops))),
  };
}

const parsePlan = ({ mode, stages, holdback, state, stage, percent, watched, stage_started }: Json): Plan => ({
  mode: mode === "observe" ? mode : "guard",
  stages: list(stages).map((one) => ({
    percent: number(one.percent),
    minutes: number(one.minutes),
    runs: number(one.runs),
  })),
  holdback: number(holdback),
  state: text(state) as Plan["state"],
  stage: number(stage),
  percent: number(percent),
  isWatched: watched === true,
  stageStarted: number(stage_started) * 1000,
});

const parseFigures = (window: string, { v2, legacy }: Json): Figures => ({
  window,
  v2: parseTally(fields(v2)),
  legacy: parseTally(fields(legacy)),
});

const parseTally = ({ runs, error, interrupted, empty, first_token_ms, cost }: Json): Tally => ({
  runs: number(runs),
  error: number(error),
  interrupted: number(interrupted),
  empty: number(empty),
  firstTokenMs: known(first_token_ms),
  cost: known(cost),
});
