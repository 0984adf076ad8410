import { ExactNumber } from "../../src/base/json.ts";
import { sign } from "../../src/inbound/signatures/sign.ts";

import { providerOf, testSecret } from "./app.ts";

/** A delivery in the log of a hook. */
interface HookDelivery {
  /** Beyond 2^53, as GitHub's since 2026. */
  readonly id: ExactNumber;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The body as it was sent. */
  readonly body: string;
  readonly deliveredAt: Date;
  readonly isRedelivery: boolean;
  /** The status that GitHub received; null if there was no response. */
  readonly statusCode: number | null;
}

export interface FakeGithubOptions {
  readonly now?: () => number;
  /** The hook's path, such as `repos/acme/web/hooks/7`. */
  readonly hook?: string;
  readonly token?: string;
  /** How it writes a payload into a body. */
  readonly write?: (payload: object) => string;
  /** Whether its API returns the signature of a delivery. */
  readonly keepsSignature?: boolean;
  /** Called for each API request, with its number from 1; a response replaces the real one. */
  readonly answer?: (request: Request, number: number) => Response | undefined;
  /** The most deliveries on a page of the list. */
  readonly maxPerPage?: number;
  /** How long an API request takes, by its number. */
  readonly delayMs?: (number: number) => number;
}

interface Hook {
  readonly id: number;
  readonly name: string;
  readonly active: boolean;
  readonly events: readonly string[];
  readonly config: Readonly<Record<string, string>>;
}

export interface Sent {
  readonly guid?: string;
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Posts a body with its headers. */
export type Post = (body: string, headers: Record<string, string>) => Promise<number | null>;

/** The id of the `number`th delivery, from 1. */
export const hookDeliveryId = (number: number): string =>
  String(3_804_004_623_172_239_365n + BigInt(number));

/**
 * GitHub's part: it sends signed deliveries, and its REST API lists them, as documented at
 * https://docs.github.com/en/rest/repos/webhooks.
 */
export function fakeGithub({
  now = Date.now,
  hook = "repos/acme/web/hooks/7",
  token = "github_pat_test",
  write = JSON.stringify,
  keepsSignature = true,
  answer = () => undefined,
  maxPerPage = 100,
  delayMs = () => 0,
}: FakeGithubOptions = {}) {
  const log: HookDelivery[] = [];
  const requests: string[] = [];
  const hooks: Hook[] = [];
  const hooksPath = `/${hook.slice(0, hook.lastIndexOf("/"))}`;
  const provider = providerOf("code_host");

  const headersOf = ({ guid, event, body }: Pick<HookDelivery, "guid" | "event" | "body">) => ({
    "X-GitHub-Delivery": guid,
    "X-GitHub-Event": event,
    "X-GitHub-Hook-ID": hook.split("/").at(-1) ?? "",
    "User-Agent": "GitHub-Hookshot/044aadd",
    "content-type": "application/json",
    "X-Hub-Signature-256": sign(
      provider.signature,
      testSecret("code_host"),
      Buffer.from(body),
      now(),
    ),
  });

  async function send(
    { guid = crypto.randomUUID(), event, payload }: Sent,
    post: Post,
    at: Date,
    isRedelivery: boolean,
  ): Promise<HookDelivery> {
    const body = write(payload);
    const statusCode = await post(body, headersOf({ guid, event, body }));
    const { action } = payload;
    const delivery: HookDelivery = {
      id: new ExactNumber(hookDeliveryId(log.length + 1)),
      guid,
      event,
      action: typeof action === "string" ? action : null,
      payload,
      body,
      deliveredAt: at,
      isRedelivery,
      statusCode,
    };
    log.push(delivery);
    return delivery;
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search, searchParams } = new URL(request.url);
      const number = requests.push(`${request.method} ${pathname}${search}`);
      const replaced = answer(request, number);
      if (delayMs(number) > 0) await Bun.sleep(delayMs(number));
      if (replaced !== undefined) return replaced;
      if (request.headers.get("authorization") !== `Bearer ${token}`) {
        return failure(401, "Bad credentials");
      }
      if ((request.headers.get("user-agent") ?? "") === "") {
        return failure(403, "Request forbidden by administrative rules.");
      }
      const path = `/${hook}/deliveries`;
      if (request.method === "GET" && pathname === path) return list(searchParams);
      if (request.method === "GET" && pathname.startsWith(`${path}/`)) {
        return one(pathname.slice(path.length + 1));
      }
      if (pathname === hooksPath || pathname.startsWith(`${hooksPath}/`)) {
        return webhooks(request, pathname.slice(hooksPath.length + 1), searchParams);
      }
      return failure(404, "Not Found");
    },
  });

  /** The API of webhooks themselves. It never shows a secret. */
  async function webhooks(request: Request, id: string, query: URLSearchParams): Promise<Response> {
    const shown = ({ config, ...others }: Hook) => ({
      ...others,
      type: "Repository",
      config: "secret" in config ? { ...config, secret: "********" } : config,
    });
    if (request.method === "GET" && id === "") {
      const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 30)];
      const next = `<${server.url.origin}${hooksPath}?per_page=${size}&page=${page + 1}>; rel="next"`;
      const link: Record<string, string> = hooks.length > page * size ? { link: next } : {};
      const listed = hooks.slice((page - 1) * size, page * size).map(shown);
      return Response.json(listed, { headers: link });
    }
    const body: Partial<Hook> = Object(await request.json());
    if (request.method === "POST" && id === "") {
      if (hooks.some(({ config }) => config["url"] === body.config?.["url"])) {
        return failure(422, "Validation Failed");
      }
      const made: Hook = {
        id: 100 + hooks.length,
        name: "web",
        active: true,
        events: ["push"],
        config: {},
        ...body,
      };
      hooks.push(made);
      return Response.json(shown(made), { status: 201 });
    }
    const index = hooks.findIndex((one) => String(one.id) === id);
    const found = hooks[index];
    if (request.method !== "PATCH" || found === undefined) return failure(404, "Not Found");
    hooks[index] = { ...found, ...body };
    return Response.json(shown(hooks[index]));
  }

  function list(query: URLSearchParams): Response {
    const size = Math.min(Number(query.get("per_page") ?? "30"), maxPerPage);
    const cursor = query.get("cursor");
    const newest = log.toReversed();
    // The cursor is the id of the first delivery of the page.
    const from = cursor === null ? 0 : newest.findIndex(({ id }) => cursor === `v1_${String(id)}`);
    if (from < 0) return failure(422, "The cursor is not valid");
    const status = query.get("status");
    const isListed = ({ statusCode }: HookDelivery) =>
      status === null || (status === "success") === (statusCode ?? 0) < 400;
    const page = newest.slice(from, from + size);
    const next = newest[from + size];
    const link = `<${server.url.origin}/${hook}/deliveries?per_page=${size}&cursor=v1_${String(next?.id)}>; rel="next"`;
    return Response.json(page.filter(isListed).map(summary), {
      headers: { "x-ratelimit-remaining": "4999", ...(next !== undefined && { link }) },
    });
  }

  function one(id: string): Response {
    const found = log.find((delivery) => String(delivery.id) === id);
    if (found === undefined) return failure(404, "Not Found");
    const { "X-Hub-Signature-256": signature, ...headers } = headersOf(found);
    // Indented, as GitHub's API answers.
    const text = JSON.stringify(
      {
        ...summary(found),
        url: "https://hooks.example.com/webhooks/code_host",
        request: {
          headers: keepsSignature ? { ...headers, "X-Hub-Signature-256": signature } : headers,
          payload: found.payload,
        },
        response: { headers: {}, payload: "" },
      },
      null,
      2,
    );
    return new Response(text, { headers: { "content-type": "application/json; charset=utf-8" } });
  }

  return {
    url: server.url.origin,
    token,
    hook,
    log,
    /** The webhooks of the repository or organization. */
    hooks,
    /** The API requests so far, as `GET /path?query`. */
    requests,
    /** Sends an event to `post`, which returns the status that GitHub receives, or null for none, and logs it. */
    deliver: (sent: Sent, post: Post, at = new Date(now())) => send(sent, post, at, false),
    /** Sends a delivery again, as the button in GitHub's settings does. */
    redeliver: ({ guid, event, payload }: HookDelivery, post: Post) =>
      send({ guid, event, payload }, post, new Date(now()), true),
    stop: () => server.stop(true),
  };
}

export type FakeGithub = ReturnType<typeof fakeGithub>;

function summary(delivery: HookDelivery) {
  const { id, guid, event, action, deliveredAt, isRedelivery, statusCode } = delivery;
  return {
    id,
    guid,
    delivered_at: deliveredAt.toISOString(),
    redelivery: isRedelivery,
    duration: 0.27,
    status:
      statusCode === null
        ? "failed to connect to host"
        : statusCode < 400
          ? "OK"
          : "Invalid HTTP Response",
    status_code: statusCode ?? 0,
    event,
    action,
    installation_id: null,
    repository_id: 501,
    throttled_at: null,
  };
}

function failure(status: number, message: string): Response {
  const body = {
    message,
    documentation_url: "https://docs.github.com/rest",
    status: String(status),
  };
  return Response.json(body, { status });
}
