import { describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";

import { createClientFor } from "../../src/client/client.ts";
import { SkyhookError } from "../../src/client/errors.ts";
import { pause, sender } from "../../src/client/requests.ts";
import { endsAfterEach } from "../support/ends.ts";
import { testGateway } from "../support/gateway.ts";

const ends = endsAfterEach();

type Answer = () => Response;

/** Returns these answers in turn, and the last one to all other requests. */
function serving(...answers: readonly Answer[]) {
  const timesMs: number[] = [];
  const gateway = testGateway((number) => {
    timesMs.push(performance.now());
    return (answers[number - 1] ?? answers.at(-1))?.() ?? new Response();
  });
  ends.push(() => gateway.stop());
  return { url: new URL(gateway.url).origin, received: gateway.received, timesMs };
}

const answer =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Answer =>
  () =>
    Response.json(body, { status, headers });
/** Asks for another attempt at once. */
const busy = (status: number) => answer(status, { code: "busy" }, { "retry-after": "0" });
const keyed = ["/v1/api/bookings"];
const errorOf = (failing: Promise<unknown>) => failing.then(String, (thrown: unknown) => thrown);

describe("a request is repeated", () => {
  test.each([
    ["GET", "/v1/events", {}, 3],
    ["HEAD", "/v1/events", {}, 3],
    ["POST", "/v1/api/bookings", {}, 3],
    ["POST", "/v1/api/bookings", { "idempotency-key": "mine" }, 3],
    ["POST", "/v1/users", { "idempotency-key": "mine" }, 3],
    ["POST", "/v1/users", {}, 1],
    ["POST", "/v1/api/bookings/bk_1/changes", {}, 1],
    ["PATCH", "/v1/api/bookings", {}, 1],
    ["DELETE", "/v1/events", {}, 1],
  ] as const)("only where that is harmless: %s %s %p", async (method, path, headers, times) => {
    for (const status of [429, 503]) {
      const { url, received } = serving(busy(status));
      const body = method === "POST" || method === "PATCH" ? '{"a":"ü"}' : null;
      const send = sender({ baseUrl: url, token: "t" }, keyed);
      const last = await send(new Request(url + path, { method, headers, body }));
      expect([last.status, received.length]).toEqual([status, times]);
      // Each is whole, with the same key.
      const keys = received.map((each) => each.headers["idempotency-key"]);
      for (const each of received) {
        expect(each).toMatchObject({ method, path, body: body ?? "" });
        expect(each.headers["authorization"]).toBe("Bearer t");
      }
      expect(new Set(keys).size).toBe(1);
      if ("idempotency-key" in headers) expect(keys[0]).toBe("mine");
      else if (times === 3 && method === "POST") expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
      else expect(keys[0]).toBeUndefined();
    }
  });

  test.each([200, 400, 404, 409, 500, 502])("not after %i", async (status) => {
    const { url, received } = serving(answer(status, {}, { "retry-after": "0" }));
    const response = await sender({ baseUrl: url }, [])(new Request(url));
    expect([response.status, received.length]).toEqual([status, 1]);
  });

  test("until it succeeds, with the token of that moment", async () => {
    const { url, received } = serving(busy(503), busy(429), answer(200, { ok: true }));
    let tokens = 0;
    const token = async () => `token-${(tokens += 1)}`;
    const response = await sender({ baseUrl: url, token }, [])(new Request(url));
    expect(await response.json()).toEqual({ ok: true });
    expect(received.map(({ headers }) => headers["authorization"])).toEqual(
      [1, 2, 3].map((number) => `Bearer token-${number}`),
    );
  });

  test("later each time, and as late as the server asks", async () => {
    const asks = (seconds: string) => answer(503, {}, { "retry-after": seconds });
    const { url, received, timesMs } = serving(answer(503), answer(503), asks("1"), asks("31"));
    const response = await sender({ baseUrl: url, maxAttempts: 9 }, [])(new Request(url));
    // Longer than half a minute is the caller's decision.
    expect([response.status, received.length]).toEqual([503, 4]);
    const [first = 0, second = 0, third = 0] = timesMs
      .slice(1)
      .map((atMs, index) => atMs - (timesMs[index] ?? 0));
    expect(first).toBeWithin(295, 1_400);
    expect(second).toBeWithin(595, 2_400);
    expect(third).toBeWithin(995, 1_900);
  });

  test("not after its signal aborts", async () => {
    const { url, received } = serving(answer(503, {}, { "retry-after": "20" }));
    const stop = new AbortController();
    const request = new Request(url, { signal: stop.signal });
    const sending = sender({ baseUrl: url }, [])(request).catch(String);
    await pause(100);
    stop.abort(new Error("stopped"));
    expect(await sending).toBe("Error: stopped");
    expect(received).toHaveLength(1);
  });

  test.each([
    ["GET", "{}", 3],
    ["DELETE", "unreachable", 1],
  ])("after a lost connection: %s", async (method, result, times) => {
    let connections = 0;
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          connections += 1;
          if (connections === 3) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
          else socket.end();
        },
      },
    });
    ends.push(() => server.stop(true));
    const url = `http://127.0.0.1:${server.port}`;
    const sending = sender({ baseUrl: url }, [])(new Request(url, { method }));
    const found = await sending.then((response) => response.text()).catch(({ code }) => code);
    expect([found, connections]).toEqual([result, times]);
  });
});

test("pauses leave nothing behind on a signal that outlives them", async () => {
  const stop = new AbortController();
  for (let n = 0; n < 3; n += 1) await pause(0, stop.signal);
  const aborted = pause(60_000, stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  stop.abort(new Error("stopped"));
  for (const pausing of [aborted, pause(60_000, stop.signal)])
    expect(await pausing.catch(String)).toBe("Error: stopped");
});

test("a server that cannot be reached is an error with its address", async () => {
  const send = sender({ baseUrl: "http://127.0.0.1:1", maxAttempts: 1, token: undefined }, []);
  const error: unknown = await send(new Request("http://127.0.0.1:1/v1/events?q=a")).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SkyhookError);
  expect(error).toMatchObject({ code: "unreachable", status: 0, cause: expect.any(Error) });
  expect(String(error)).toContain("http://127.0.0.1:1 cannot be reached: ");
  expect(String(error)).not.toContain("q=a");
});

test("an aborted request keeps the reason of its signal", async () => {
  const send = sender({ baseUrl: "http://127.0.0.1:1" }, []);
  const signal = AbortSignal.abort(new Error("stopped"));
  const aborted = send(new Request("http://127.0.0.1:1/", { signal }));
  expect(await aborted.catch(String)).not.toContain("cannot be reached");
});

interface Paths {
  readonly "/v1/lists/{id}/items": {
    readonly get: {
      readonly parameters: {
        readonly path: { readonly id: string };
        readonly query?: Readonly<Record<string, string | null | undefined>>;
      };
      readonly responses: {
        readonly 200: {
          readonly content: {
            readonly "application/json": { readonly data: number[]; readonly pagination: unknown };
          };
        };
      };
    };
  };
}
const path = "/v1/lists/{id}/items";
const page = (data: readonly number[], nextCursor: string | null, hasMore = nextCursor !== null) =>
  answer(200, { data, pagination: { hasMore, nextCursor } });

describe("the items of a list", () => {
  test.each(["plain", "a/b", "..%2F", "?q=1#x", "ü 😀", "%", "{id}"])(
    "are those of an id as it is: %s",
    async (id) => {
      const { url, received } = serving(page([1], null));
      const client = createClientFor<Paths>({ baseUrl: `${url}/` }, []);
      await Array.fromAsync(client.items(path, { path: { id } }));
      await client.GET(path, { params: { path: { id } } });
      const expected = `/v1/lists/${encodeURIComponent(id)}/items`;
      expect(received.map((each) => each.path)).toEqual([expected, expected]);
    },
  );

  test("come page by page, with the filters and the cursor", async () => {
    const { url, received } = serving(page([1, 2], "c&1"), page([3], "c2"), page([4], "c3", false));
    const client = createClientFor<Paths>({ baseUrl: url }, []);
    const query = { q: "a&b=c", from: undefined, to: null };
    const listing = client.items(path, { path: { id: "x" }, query });
    expect(await listing.next()).toEqual({ done: false, value: 1 });
    expect(await listing.next()).toEqual({ done: false, value: 2 });
    // The next page is not read before it is used.
    expect(received).toHaveLength(1);
    expect(await Array.fromAsync(listing)).toEqual([3, 4]);
    expect(received.map(({ search }) => search)).toEqual([
      "?q=a%26b%3Dc",
      "?q=a%26b%3Dc&cursor=c%261",
      "?q=a%26b%3Dc&cursor=c2",
    ]);
  });

  test.each([
    [
      answer(400, { code: "invalid-cursor", detail: "No cursor", requestId: "r1", errors: [1] }),
      { message: "No cursor", status: 400, code: "invalid-cursor", requestId: "r1", errors: [1] },
    ],
    [
      () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
      { message: "HTTP 502", status: 502, code: "http-502", requestId: null, errors: [] },
    ],
  ])("end with a SkyhookError (%#)", async (failing, expected) => {
    const { url } = serving(page([1], "c1"), failing);
    const listing = createClientFor<Paths>({ baseUrl: url }, []).items(path, { path: { id: "x" } });
    expect(await listing.next()).toMatchObject({ value: 1 });
    const error = await errorOf(listing.next());
    expect(error).toBeInstanceOf(SkyhookError);
    expect(error).toMatchObject(expected);
  });
});
