import { describe, expect, it } from "vitest";
import type { Delivery, Webhook } from "../../types/webhooks.ts";
import { attemptText, deliveryStatus, testText, webhookName, webhookStatus } from "./webhooks.ts";

const webhook = (more: Partial<Webhook> = {}): Webhook => ({
  id: "wh_1",
  url: "https://example.org:8443/hooks",
  events: ["run.ended"],
  description: "",
  isActive: true,
  disabled: undefined,
  created: 0,
  formerUntil: undefined,
  ...more,
});

const delivery = (more: Partial<Delivery> = {}): Delivery => ({
  id: "msg_1",
  kind: "run.ended",
  state: "delivered",
  created: 0,
  ended: 0,
  nextAttempt: undefined,
  attempts: [{ at: 0, status: 200, error: undefined, ms: 12 }],
  ...more,
});

describe("webhooks", () => {
  it("tell a pause from a receiver that is gone", () => {
    expect(webhookStatus(webhook()).words).toBe("Active");
    expect(webhookStatus(webhook({ isActive: false }))).toEqual({ lamp: "waiting", words: "Paused" });
    expect(webhookStatus(webhook({ isActive: false, disabled: "GONE" }))).toEqual({
      lamp: "failed",
      words: "Switched off: the receiver answered 410 (gone)",
    });
    expect(webhookStatus(webhook({ isActive: false, disabled: "NEW" })).words).toBe("Switched off: NEW");
  });

  it("are named by their description, or else by their host", () => {
    expect(webhookName(webhook({ description: "Inbox" }))).toBe("Inbox");
    expect(webhookName(webhook())).toBe("example.org:8443");
    expect(webhookName(webhook({ url: "no url" }))).toBe("no url");
  });

  it("say when the next attempt is", () => {
    expect(deliveryStatus(delivery())).toEqual({ lamp: "done", words: "Delivered" });
    const pending = deliveryStatus(delivery({ state: "pending", nextAttempt: 60_000 }));
    expect(pending.words).toBe(`Pending, next attempt at ${new Date(60_000).toLocaleTimeString()}`);
    expect(deliveryStatus(delivery({ state: "pending" })).words).toBe("Pending");
  });

  it("explain why an attempt failed, also for a reason that is new", () => {
    expect(attemptText({ at: 0, status: 200, error: undefined, ms: 12 })).toBe("Status 200 in 12 ms");
    expect(attemptText({ at: 0, status: 503, error: "HTTP_STATUS", ms: 12 })).toBe("Status 503 in 12 ms");
    expect(attemptText({ at: 0, status: 302, error: "REDIRECT", ms: 12 })).toBe(
      "Status 302 in 12 ms: redirects are not followed",
    );
    expect(attemptText({ at: 0, status: undefined, error: "NEW", ms: 1500 })).toBe("No response in 1.5 s: NEW");
  });

  it("sum up a test event", () => {
    expect(testText(delivery())).toBe("Test event delivered. Status 200 in 12 ms.");
    expect(
      testText(delivery({ state: "failed", attempts: [{ at: 0, status: undefined, error: "UNREACHABLE", ms: 3 }] })),
    ).toBe("Test event not delivered. No response in 3 ms: the host does not exist or refuses the connection.");
  });
});
