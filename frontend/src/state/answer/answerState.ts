// The state of one answer, and what an answer needs to be created.

import type { ApiClient, ChatOptions, Connection } from "@signalbox/client/requests";
import { isUsingTools } from "../../logic/trace/items.ts";
import type { Effort, Parameters } from "../../types/api.ts";
import type { RunTrace } from "../../types/models.ts";
import type { Schedule } from "../store.ts";
import type { Answer } from "./answer.ts";
import type { StopTimes } from "./runStop.ts";

export interface AnswerState {
  trace: RunTrace;
  /**
   * What is loaded. `text`: only the conversation's data. `fetching`: its events are loading. `whole`: all events of
   * its run. `failed`: the events are not available.
   */
  known: "text" | "fetching" | "whole" | "failed";
  /** A stop was requested, and the run has not ended yet. */
  stopping: boolean;
  /** The stop request failed, so the run may continue. */
  stopFailed: boolean;
  /**
   * `resuming`: reconnecting for longer than `quietMs`. `polling`: other answers use all live streams. `waiting`: the
   * message is not sent until the server can be reached.
   */
  connection: Connection;
  /** When the last event and the last reasoning arrived, by the page's clock (`now`). Undefined for finished runs. */
  heardAt: number | undefined;
  reasonedAt: number | undefined;
  /** Since when the model has been silent for too long, by the page's clock. */
  silentSince: number | undefined;
  /** The limits that the request set. Undefined while unknown. */
  limits: Parameters | undefined;
}

export interface AnswerDeps extends StopTimes {
  client: ApiClient;
  onUnauthorized?: () => void;
  /** Called when the run gets its id, changes its connection, or ends. */
  onChange?: (answer: Answer) => void;
  schedule?: Schedule;
  /** The page's clock in milliseconds. */
  now?: () => number;
  /** Shorter connection losses are not shown. */
  quietMs?: number;
  stream?: Partial<ChatOptions>;
}

export interface AnswerOptions {
  model: string;
  effort: Effort;
  /** Undefined until the server has sent it. */
  runId?: string;
  /** Read the events from this saved answer. */
  saveId?: string;
  /** The answer that this one continues. */
  continues?: Answer | undefined;
}

export type SavedRunOptions = Pick<AnswerOptions, "model" | "continues"> & { runId: string };

/** The state of an answer that nothing has happened to yet. */
export const newAnswerState = (trace: RunTrace, known: AnswerState["known"]): AnswerState => ({
  trace,
  known,
  stopping: false,
  stopFailed: false,
  connection: "open",
  heardAt: undefined,
  reasonedAt: undefined,
  silentSince: undefined,
  limits: undefined,
});

/** Whether something else than the model is awaited: a tool, the connection, or a stop. */
export const isSilenceExcused = ({ trace, stopping, connection }: AnswerState): boolean =>
  trace.end !== undefined || stopping || connection === "waiting" || isUsingTools(trace);
