import {
  at,
  idAt,
  isObject,
  isoTimeAt,
  type JsonObject,
  objectAt,
  textAt,
} from "../../base/payload.ts";
import type { LoggedRequest } from "../model/webhook-request.ts";
import { ApiError } from "../provider-api/api-error.ts";
import { githubApi } from "../provider-api/github.ts";
import {
  type ApiResponse,
  type Field,
  nextPageParameter,
  objectsIn,
  type ProviderApi,
} from "../provider-api/provider-api.ts";
import { codeHost } from "../providers/code_host.ts";

import type { LogEntry, LogKind, ProviderLog } from "./provider-log.ts";

/** A payload has at most 25 MiB; escapes and the log of our response add to it. */
const maxDeliveryBytes = 64 * 1024 * 1024;

/**
 * GitHub's log of a hook's deliveries. GitHub does not retry a delivery, and keeps it for three days.
 * https://docs.github.com/en/rest/repos/webhooks#list-deliveries-for-a-repository-webhook
 */
export const codeHostLog: LogKind = {
  provider: codeHost.id,
  keptDays: 3,
  variables: ["CODE_HOST_API_TOKEN", "CODE_HOST_HOOK"],
  permission:
    "Webhooks: read (fine-grained), or the scope read:repo_hook, for an organization admin:org_hook (classic)",
  open({ source: hook, ...access }, surroundings) {
    return hook === null ? null : deliveriesOf(hook, githubApi(access, surroundings));
  },
};

function deliveriesOf(hook: string, api: ProviderApi): ProviderLog {
  const path = `/${hook}/deliveries`;
  return {
    host: api.host,
    async page(after, since) {
      // Not only failed ones: a proxy can answer 200 and lose the request.
      const query: Field[] = [["per_page", "100"]];
      if (after !== null) query.push(["cursor", after]);
      const response = await api.send({ method: "GET", path, query });
      const items = objectsIn(api, response.body);
      const isPast = items.some((item) => (isoTimeAt(item, "delivered_at") ?? since) < since);
      return {
        entries: items.map((item) => entryOf(api, path, item)).filter((entry) => entry !== null),
        next: isPast ? null : nextOf(response, after),
      };
    },
  };
}

function nextOf(response: ApiResponse, after: string | null): string | null {
  const next = nextPageParameter(response, "cursor");
  return next === after ? null : next;
}

/** The entry of a list item; null for events that are not listed, such as a ping. */
function entryOf(api: ProviderApi, path: string, item: JsonObject): LogEntry | null {
  const [id, deliveryId] = [idAt(item, "id"), idAt(item, "guid")];
  const [event, action] = [textAt(item, "event"), textAt(item, "action")];
  const sentAt = isoTimeAt(item, "delivered_at");
  const type = `${event}.${action}`;
  if (id === null || deliveryId === null || event === null || sentAt === null) return null;
  if (!Object.hasOwn(codeHost.samples, type)) return null;
  const status = at(item, "status_code");
  return {
    deliveryId,
    type,
    sentAt,
    isAcknowledged: typeof status === "number" && status >= 200 && status < 300,
    async read() {
      const found = await deliveryAt(api, `${path}/${encodeURIComponent(id)}`);
      const payload = at(found, "request", "payload");
      if (!isObject(payload)) return null;
      const headers = headersOf(objectAt(found, "request", "headers"));
      headers.set("x-github-delivery", deliveryId);
      headers.set("x-github-event", event);
      return { headers, bodies: bodiesOf(payload) };
    },
  };
}

async function deliveryAt(api: ProviderApi, path: string): Promise<unknown> {
  try {
    return (await api.send({ method: "GET", path, maxBytes: maxDeliveryBytes })).body;
  } catch (error) {
    // It was deleted since the page was read.
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

function headersOf(logged: JsonObject): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(logged)) {
    const isHeader =
      /^[\w-]{1,100}$/.test(name) && typeof value === "string" && /^[ -~]*$/.test(value);
    if (isHeader) headers.set(name, value);
  }
  return headers;
}

/**
 * The forms in which GitHub may have sent a payload: as JSON without white space, with escapes in lower or
 * upper case, or as a form.
 */
function bodiesOf(payload: JsonObject): LoggedRequest["bodies"] {
  const text = JSON.stringify(payload);
  const upperCase = text.replaceAll(/\\(?:u[\da-f]{4}|.)/g, (escape) =>
    escape.length === 2 ? escape : `\\u${escape.slice(2).toUpperCase()}`,
  );
  const form = new URLSearchParams({ payload: text }).toString();
  return [Buffer.from(text), Buffer.from(upperCase), Buffer.from(form)];
}
