// What the JavaScript programs of this folder share: the server's address, a tool, and the report of their checks.
import assert from "node:assert/strict";
import { z } from "zod";

export const URL = process.env.SIGNALBOX_URL;
export const BASE_URL = `${URL}/v1`;
export const MODEL = "anthropic/sim";
export const CALCULATION = "What is 17 * 23?";
// The first part needs the client's tool, the second one a tool of the server.
export const BOTH_TOOLS = "Use get_weather for Lisbon, then calculate 17 * 23.";
export const SERVER_TOOLS = { "x-signalbox-tools": "calculate" };
export const CITY = z.object({ city: z.string() });
export const DESCRIPTION = "Return the weather of a city.";
const WEATHER = "21 degrees and sunny";
const SOON = 1000;

export function getWeather({ city }) {
  assert.equal(city, "Lisbon");
  return WEATHER;
}

async function get(path) {
  return (await fetch(URL + path)).json();
}

export async function newestRun() {
  return (await get("/api/runs")).runs[0].run_id;
}

/** Check that a run is cancelled within a second. */
export async function expectCancelled(runId) {
  const deadline = performance.now() + SOON;
  let status = "running";
  while (status === "running") {
    assert(performance.now() < deadline, "the run goes on");
    ({ status } = await get(`/api/runs/${runId}`));
  }
  assert.equal(status, "cancelled");
}

/** Check that an answer uses the results of both tools. */
export function expectBothResults(text) {
  assert.match(text, new RegExp(WEATHER));
  assert.match(text, /391/);
}

/** Return the error that a call throws. */
export async function errorOf(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  assert.fail("no error");
}

/** Run the checks, print the result of each as a line of JSON, and exit with 1 if one failed. */
export async function report(checks) {
  let failed = false;
  for (const [check, run] of Object.entries(checks)) {
    const started = performance.now();
    let error = "";
    try {
      await run();
    } catch (problem) {
      error = String(problem?.stack ?? problem);
      failed = true;
    }
    console.log(JSON.stringify({ check, seconds: Math.round(performance.now() - started) / 1000, error }));
  }
  process.exit(failed ? 1 : 0);
}
