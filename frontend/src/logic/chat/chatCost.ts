// The total cost of a chat's answers.
import type { RunEnd } from "../../types/models.ts";

export interface ChatCost {
  usd: number;
  /** Some costs are not final. */
  estimated: boolean;
  /** All answers were simulated. The total is what they would have cost. */
  simulated: boolean;
}

/** Sum the paid costs. Simulated answers count only if there are no others. */
export function totalOf(ends: readonly (RunEnd | undefined)[]): ChatCost | undefined {
  const known = ends.filter((end) => end?.cost !== undefined);
  const paid = known.filter((end) => !end?.simulated);
  const counted = paid.length > 0 ? paid : known;
  if (counted.length === 0) return undefined;
  const simulated = paid.length === 0;
  return {
    usd: counted.reduce((sum, end) => sum + (end?.cost ?? 0), 0),
    estimated: ends.some((end) => end?.cost_estimated === true && (simulated || !end.simulated)),
    simulated,
  };
}
