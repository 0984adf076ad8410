import { createHash, createHmac } from "node:crypto";

import { testSecret } from "../../support/app.ts";
/* Deliveries as the four services send and sign them, made without the program's own code. */

export const providers = ["task_tracker", "shared_inbox", "deploy_platform", "code_host"] as const;
export type ProviderId = (typeof providers)[number];

/** The values that determine a delivery's bytes. */
export interface DeliveryContent {
  readonly provider: ProviderId;
  readonly kind: number;
  readonly number: number;
}

/** How the service interprets a delivery. */
export interface Delivery {
  readonly content: DeliveryContent;
  readonly provider: ProviderId;
  readonly type: string;
  readonly status: "accepted" | "ignored" | "unreadable";
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string;
  /** For an unsigned id in a header: the key if another body already has the key of the id. */
  readonly keyByBody: string | null;
}

/** Sample deliveries: some of listed events, one of an unlisted event. */
const kinds: Readonly<Record<ProviderId, readonly (readonly [sent: string, type: string])[]>> = {
  task_tracker: [
    ["item:completed", "task.completed"],
    ["item:added", "task.created"],
    ["note:added", "comment.added"],
    ["item:deleted", "item:deleted"],
  ],
  shared_inbox: [
    ["inbound", "message.received"],
    ["out_reply", "message.sent"],
    ["assign", "assignee.changed"],
    ["trash", "trash"],
  ],
  deploy_platform: [
    ["deployment.succeeded", "deploy.succeeded"],
    ["deployment.error", "deploy.error"],
    ["deploy.canceled", "deploy.canceled"],
    ["project.removed", "project.removed"],
  ],
  code_host: [
    ["workflow_run", "workflow_run.completed"],
    ["package", "package.published"],
    ["workflow_run", "workflow_run.completed"],
    ["ping", "ping"],
  ],
};
const unlisted = 3;
const unreadable = 4;

/**
 * `kind`: 0 to 2 are listed events, 3 is an unlisted one, 4 is not JSON. `number` makes bodies differ. `id`
 * null: providers that send the id in a header omit it; others have it in the body.
 */
export function delivery(content: DeliveryContent, id: number | null): Delivery {
  const { provider, kind, number } = content;
  const [sent, type] = kinds[provider][Math.min(kind, unlisted)] ?? ["", ""];
  const isUnreadable = kind === unreadable;
  const text = isUnreadable ? `not JSON ${number}` : bodyOf(provider, sent, number);
  const inHeader = provider === "task_tracker" || provider === "code_host";
  const headers: Record<string, string> = {};
  if (inHeader && id !== null) headers[idHeader(provider)] = `delivery-${id}`;
  if (provider === "code_host") headers["x-codehost-event"] = sent;
  const knownId = inHeader ? id !== null && `delivery-${id}` : `evt-${sent}-${number}`;
  const hash = createHash("sha256").update(text).digest("hex");
  const byBody = `${provider}:sha256:${hash}`;
  // An unreadable delivery has no id, so its bytes identify it.
  const isById = knownId !== false && !isUnreadable;
  return {
    content,
    provider,
    type: isUnreadable ? "unreadable" : type,
    status: isUnreadable ? "unreadable" : kind === unlisted ? "ignored" : "accepted",
    body: text,
    headers,
    key: isById ? `${provider}:${knownId}` : byBody,
    keyByBody: inHeader ? byBody : null,
  };
}

const idHeader = (provider: ProviderId): string =>
  provider === "code_host" ? "x-codehost-delivery" : "x-tasktracker-delivery-id";

function bodyOf(provider: ProviderId, sent: string, number: number): string {
  const id = `evt-${sent}-${number}`;
  switch (provider) {
    case "task_tracker":
      return JSON.stringify({
        event_name: sent,
        event_data: { id: `${number}`, content: "Rotate the keys 🛩️", item_id: "7" },
      });
    case "shared_inbox":
      // White space that the provider removes before signing.
      return `{ "id": "${id}",\n  "type": "${sent}", "conversation": {"id": "cnv_1", "subject": "a b"} }`;
    case "deploy_platform":
      return JSON.stringify({
        id,
        type: sent,
        payload: { deployment: { id: "dpl_1", name: "web" } },
      });
    case "code_host": {
      const run = { id: number, conclusion: "success", html_url: "https://example.com/1" };
      const what =
        sent === "package"
          ? { action: "published", package: { id: number, name: "web" } }
          : { action: "completed", workflow_run: run };
      return JSON.stringify(sent === "ping" ? { zen: "Keep it simple", hook_id: number } : what);
    }
  }
}

/** The signature header of a body (specification 1, "Authentication"). */
export function signatureOf(provider: ProviderId, body: string): Record<string, string> {
  const mac = (algorithm: string, text: string) =>
    createHmac(algorithm, testSecret(provider)).update(text);
  switch (provider) {
    case "task_tracker":
      return { "x-tasktracker-hmac-sha256": mac("sha256", body).digest("base64") };
    case "shared_inbox": {
      const compact = body.startsWith("{") ? JSON.stringify(JSON.parse(body)) : body;
      return { "x-inbox-signature": mac("sha1", compact).digest("base64") };
    }
    case "deploy_platform":
      return { "x-deploy-signature": mac("sha1", body).digest("hex") };
    case "code_host":
      return { "x-codehost-signature-256": `sha256=${mac("sha256", body).digest("hex")}` };
  }
}
