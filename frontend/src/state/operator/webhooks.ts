// The receivers of events: loads them, reloads them after each change, and sends test events.
import type { Delivery, Webhook, WebhookFields } from "../../types/webhooks.ts";
import { type ChangeState, ChangeStore, UNCHANGED } from "./changeStore.ts";
import { sentenceOf } from "./request.ts";
import * as requests from "./webhookRequests.ts";

/** The last test event of a receiver in this tab. */
export type Test = "sending" | { delivery: Delivery } | { failure: string };

export interface WebhooksState extends ChangeState {
  /** Undefined until they are loaded. */
  webhooks: readonly Webhook[] | undefined;
  /** A new secret, until the user has copied it. */
  secret: string | undefined;
  /** By the id of the receiver. */
  tests: Readonly<Record<string, Test>>;
}

export class Webhooks extends ChangeStore<WebhooksState> {
  constructor() {
    super({ ...UNCHANGED, webhooks: undefined, secret: undefined, tests: {} });
  }

  protected async fetch(): Promise<Partial<WebhooksState>> {
    return { webhooks: await requests.fetchWebhooks() };
  }

  create(fields: WebhookFields): Promise<boolean> {
    return this.apply(async () => this.set({ secret: await requests.createWebhook(fields) }));
  }

  change(id: string, fields: WebhookFields): Promise<boolean> {
    return this.apply(() => requests.changeWebhook(id, fields));
  }

  rotate(id: string, graceSeconds: number): Promise<boolean> {
    return this.apply(async () => this.set({ secret: await requests.rotateWebhook(id, graceSeconds) }));
  }

  delete(id: string): Promise<boolean> {
    return this.apply(() => requests.deleteWebhook(id));
  }

  async test(id: string): Promise<void> {
    this.#setTest(id, "sending");
    try {
      this.#setTest(id, { delivery: await requests.testWebhook(id) });
    } catch (error) {
      this.#setTest(id, { failure: sentenceOf(error) });
    }
    await this.load(); // a receiver that answers 410 is switched off
  }

  forgetSecret(): void {
    this.set({ secret: undefined });
  }

  #setTest(id: string, test: Test): void {
    this.set({ tests: { ...this.state.tests, [id]: test } });
  }
}
