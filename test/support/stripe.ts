import { sign } from "../../src/inbound/signatures/sign.ts";

import { providerOf } from "./app.ts";

/** An event of Stripe's, with whether each endpoint has it. */
interface StripeEvent {
  readonly body: Readonly<Record<string, unknown>>;
  isDelivered: boolean;
}

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly enabled_events: readonly string[];
  readonly status: string;
  /** Shown only in the response that creates it. */
  readonly secret: string;
}

/** Stripe's list of events, as documented at https://docs.stripe.com/api/events/list. */
export function fakeStripe() {
  const token = "sk_test_events";
  const { signature } = providerOf("payment_processor");
  const events: StripeEvent[] = [];
  const requests: string[] = [];
  const endpoints: Endpoint[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search, searchParams: query } = new URL(request.url);
      requests.push(`${request.method} ${pathname}${search}`);
      if (request.headers.get("authorization") !== `Bearer ${token}`) {
        return failure(401, "Invalid API Key provided: sk_test_*****nts");
      }
      const [, id] = /^\/v1\/webhook_endpoints(?:\/(\w+))?$/.exec(pathname) ?? ["", null];
      if (id !== null) return webhookEndpoints(request, id, query);
      if (pathname !== "/v1/events") return failure(404, "Unrecognized request URL");
      return list(query);
    },
  });

  async function webhookEndpoints(
    request: Request,
    id: string | undefined,
    query: URLSearchParams,
  ): Promise<Response> {
    if (request.method === "GET") {
      const limit = Number(query.get("limit") ?? "10");
      const start = endpoints.findIndex((one) => one.id === query.get("starting_after")) + 1;
      const data = endpoints
        .slice(start, start + limit)
        .map((one) => ({ ...one, secret: undefined }));
      return Response.json({ object: "list", data, has_more: endpoints.length > start + limit });
    }
    const form = new URLSearchParams(await request.text());
    const enabled_events = form.getAll("enabled_events[]");
    if (id === undefined) {
      const made: Endpoint = {
        id: `we_${endpoints.length}`,
        url: form.get("url") ?? "",
        enabled_events,
        status: "enabled",
        secret: `whsec_${crypto.randomUUID().replaceAll("-", "")}`,
      };
      endpoints.push(made);
      return Response.json({ object: "webhook_endpoint", ...made });
    }
    const index = endpoints.findIndex((one) => one.id === id);
    const found = endpoints[index];
    if (found === undefined) return failure(404, `No such webhook endpoint: '${id}'`);
    const status = form.get("disabled") === "false" ? "enabled" : found.status;
    const { secret, ...shown } = { ...found, enabled_events, status };
    endpoints[index] = { ...shown, secret };
    return Response.json({ object: "webhook_endpoint", ...shown });
  }

  function list(query: URLSearchParams): Response {
    const after = query.get("starting_after");
    const types = query.getAll("types[]");
    if (types.length > 20) return failure(400, "Array types must have at most 20 elements");
    const from = Number(query.get("created[gte]") ?? "0");
    const limit = Math.min(Number(query.get("limit") ?? "10"), 100);
    const listed = events.filter(
      ({ body, isDelivered }) =>
        Number(body["created"]) >= from &&
        (types.length === 0 || types.includes(String(body["type"]))) &&
        (query.get("delivery_success") !== "false" || !isDelivered),
    );
    const start = after === null ? 0 : listed.findIndex(({ body }) => body["id"] === after) + 1;
    if (after !== null && start === 0) return failure(400, `No such event: '${after}'`);
    const data = listed.slice(start, start + limit).map(({ body }) => body);
    const page = {
      object: "list",
      url: "/v1/events",
      has_more: listed.length > start + limit,
      data,
    };
    return new Response(JSON.stringify(page, null, 2), {
      headers: { "content-type": "application/json" },
    });
  }

  return {
    url: server.url.origin,
    token,
    /** Newest first, as the API lists them. */
    events,
    endpoints,
    /** The API requests so far. */
    requests,
    /** The headers of a delivery. */
    headersOf: (body: string, secret: string) => ({
      "content-type": "application/json; charset=utf-8",
      "stripe-signature": sign(signature, secret, Buffer.from(body), Date.now()),
    }),
    stop: () => server.stop(true),
  };
}

export type FakeStripe = ReturnType<typeof fakeStripe>;

function failure(status: number, message: string): Response {
  return Response.json({ error: { type: "invalid_request_error", message } }, { status });
}
