// Loads the server's models and tools.

import type { Model, Parameters, Pricing, Tool } from "../types/api.ts";
import type { ApiClient } from "./client.ts";

export interface Catalog {
  models: readonly Model[];
  /** The server's default model. Empty if there is none. */
  preferred: string;
}

/**
 * The server preloads this address together with the page (backend/signalbox/app/asgi/static_files.py). Both must be
 * equal.
 */
const PICKABLE = "/api/models?hidden=false";

type Fields = Readonly<Record<string, unknown>>;

export async function fetchModels(client: ApiClient): Promise<Catalog> {
  const { models, default: preferred } = fields(await (await client.request(PICKABLE)).json());
  return { models: list(models).flatMap(parseModel), preferred: text(preferred) };
}

export interface ToolCatalog {
  tools: readonly Tool[];
  /** The default limits of a run, as far as the server sends them. */
  defaultLimits: Parameters;
}

export async function fetchTools(client: ApiClient): Promise<ToolCatalog> {
  const { tools, limits } = fields(await (await client.request("/api/tools")).json());
  return { tools: list(tools).flatMap(parseTool), defaultLimits: parseLimits(fields(limits)) };
}

function parseLimits({ max_steps: steps, max_searches: searches }: Fields): Parameters {
  return {
    ...(typeof steps === "number" && { max_steps: steps }),
    ...(typeof searches === "number" && { max_searches: searches }),
  };
}

function parseModel(value: unknown): Model[] {
  const entry = fields(value);
  const id = text(entry.id);
  // The simulator's fault models are hidden. They are requested by name.
  if (!id || entry.hidden === true) return [];
  const upstreams = texts(entry.upstreams);
  return [
    {
      id,
      name: text(entry.name) || id,
      badges: texts(entry.badges),
      context: amount(entry.context_length),
      maxOutput: amount(entry.max_output),
      pricing: parsePricing(fields(entry.pricing)),
      parameters: texts(entry.supported_parameters),
      ...(upstreams.length > 0 && { upstreams }),
    },
  ];
}

const parsePricing = ({ prompt, completion }: Fields): Pricing => ({
  prompt: price(prompt),
  completion: price(completion),
});

function parseTool(value: unknown): Tool[] {
  const tool = fields(value);
  const { name, title, summary, description, category, visibility, available, unavailable } = tool;
  if (!text(name)) return [];
  const why = text(unavailable) || (available === false ? "Not available on this server." : undefined);
  return [
    {
      name: text(name),
      title: text(title),
      summary: text(summary),
      description: text(description),
      category: text(category),
      visibility: text(visibility),
      showsTable: tool.shows_table === true,
      onRequest: tool.on_request === true,
      needsConversation: tool.needs_conversation === true,
      unavailable: why,
    },
  ];
}

const fields = (value: unknown): Fields => (value ?? {}) as Fields;

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const texts = (value: unknown): readonly string[] => list(value).filter((item) => typeof item === "string");

const amount = (value: unknown): number | undefined => (typeof value === "number" && value > 0 ? value : undefined);

/** The catalogue writes prices as strings ("0.00000015"), and -1 if they depend on a router. */
function price(value: unknown): number | undefined {
  if (typeof value !== "number" && (typeof value !== "string" || value.trim() === "")) return undefined;
  const usd = Number(value);
  return Number.isFinite(usd) && usd >= 0 ? usd : undefined;
}
