import { describe, expect, test } from "bun:test";

import { systemResolve } from "../../../src/base/public-address.ts";
import { emptyEvent } from "../../../src/event/event.ts";
import { sender } from "../../../src/outbound/deliveries/send.ts";
import { postWithToken, tokenRequest } from "../../../src/outbound/transports/bearer-token.ts";
import { until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { never, type Received, testGateway } from "../../support/gateway.ts";
import { destinationRow } from "../../support/rows.ts";

const createdAt = new Date(0);
const event = {
  ...emptyEvent,
  id: "evt_1",
  provider: "task_tracker",
  type: "task.completed",
  status: "accepted",
  idempotencyKey: "task_tracker:1",
  occurredAt: createdAt,
  createdAt,
  title: "Done",
} as const;
const text = { id: "ntf_1", title: "t", text: "t", url: null, severity: "info" } as const;
const notification = { ...text, createdAt };
const signal = new AbortController().signal;

type Answer = (number: number, received: Received) => Response | Promise<Response>;

const granted = (number: number, fields: object = {}) =>
  Response.json({ access_token: `t0ken-${number}`, token_type: "bearer", ...fields });

/** A destination that needs a token, and the server of its tokens. */
function withTokens(answer: Answer = granted, answerOfTarget: Answer = () => new Response()) {
  const target = testGateway(answerOfTarget);
  const server = testGateway(answer);
  const clock = manualClock();
  const { send } = sender(
    {
      clock,
      privateAllowed: "true",
      resolve: systemResolve,
      originalOf: () => Promise.reject(new Error("no original")),
      platform: {},
    },
    destinationRow(1),
    {
      url: target.url,
      secret: null,
      previous: null,
      headers: {},
      tokenUrl: `http://cl%40ient:s3cret%2B%25@127.0.0.1:${server.port}/token?scope=a+b&audience=x&resource=r1&resource=r2&p=policy`,
    },
  );
  return {
    clock,
    asked: server.received,
    sentWith: () => target.received.map(({ headers }) => headers["authorization"]),
    send: () => send([{ notification, event }], null, signal),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await target.stop();
    },
  };
}

test("one request gets the token of simultaneous messages, as RFC 6749 wants it", async () => {
  await using made = withTokens();
  const results = await Promise.all([made.send(), made.send(), made.send()]);
  expect(results.map(({ delivered }) => delivered)).toEqual([true, true, true]);
  expect(made.sentWith()).toEqual(Array(3).fill("Bearer t0ken-1"));
  const [request, ...others] = made.asked;
  expect(others).toEqual([]);
  expect([request?.method, request?.path, request?.search]).toEqual([
    "POST",
    "/token",
    "?p=policy",
  ]);
  expect(request?.body).toBe(
    "grant_type=client_credentials&scope=a+b&audience=x&resource=r1&resource=r2",
  );
  expect(request?.headers["content-type"]).toContain("application/x-www-form-urlencoded");
  // Form-encoded before Base64 (section 2.3.1).
  const login = Buffer.from("cl%40ient:s3cret%2B%25").toString("base64");
  expect(request?.headers["authorization"]).toBe(`Basic ${login}`);
});

test.each([
  ["an hour", 3_600, 3_299, 3_301],
  ["an hour, as text", "3600", 3_299, 3_301],
  ["20 seconds", 20, 9, 11],
  ["an unknown time", undefined, 149, 151],
  ["no time", 0, 149, 151],
])("a token of %s is renewed before it ends", async (_, lives, before, after) => {
  await using made = withTokens((number) => granted(number, { expires_in: lives }));
  const { clock, send, asked, sentWith } = made;
  await send();
  clock.advance(before * 1_000);
  await send();
  expect(asked).toHaveLength(1);
  clock.advance((after - before) * 1_000);
  await send();
  await until(async () => {
    await send();
    return sentWith().at(-1) === "Bearer t0ken-2";
  });
  expect(asked).toHaveLength(2);
});

test("a destination that refuses a token gets another one in the same attempt, once", async () => {
  const refused = (number: number) => new Response(null, { status: number === 2 ? 401 : 200 });
  await using made = withTokens(granted, refused);
  await made.send();
  expect(await made.send()).toMatchObject({ delivered: true, responseStatus: 200 });
  expect(made.sentWith()).toEqual(["Bearer t0ken-1", "Bearer t0ken-1", "Bearer t0ken-2"]);
  await using refusing = withTokens(granted, () => new Response("no", { status: 401 }));
  expect(await refusing.send()).toMatchObject({ responseStatus: 401, error: "HTTP 401: no" });
  expect([refusing.asked.length, refusing.sentWith().length]).toEqual([2, 2]);
});

describe("an error names the token server, repeats no secret, and is retried:", () => {
  const answers =
    (body: string, status = 200) =>
    () =>
      new Response(body, { status });
  test.each<readonly [string, Answer, string]>([
    ["it hangs", never, "no answer within 5 s"],
    ["it answers HTML", answers("<h1>s3cret</h1>"), "its answer has no access_token"],
    ["it answers a bare token", answers("s3cretToken"), "its answer has no access_token"],
    ["it answers a list", answers('["s3cret"]'), "its answer has no access_token"],
    [
      "it refuses the client",
      answers('{"error":"invalid_client"}', 401),
      "HTTP 401 invalid_client",
    ],
    ["it fails", answers("s3cret", 503), "HTTP 503"],
    ["its error is a text", answers('{"error":"s3cret is wrong"}', 400), "HTTP 400"],
    ["it redirects", () => Response.redirect("http://127.0.0.1:1024/s3cret"), "edirect"],
    ["it answers too much", answers("s3cret".repeat(20_000)), "larger than 65536 bytes"],
    [
      "its token is too long",
      (n) => granted(n, { access_token: "s3cret".repeat(1_200) }),
      "or one that is too long",
    ],
    [
      "its token does not fit into a header",
      (n) => granted(n, { access_token: "s3cret\r\nx: y" }),
      "no access_token",
    ],
    ["its token is of another type", (n) => granted(n, { token_type: "DPoP" }), "not Bearer"],
    ["its token has no type", (n) => granted(n, { token_type: undefined }), "not Bearer"],
  ])("%s", async (_, answer, said) => {
    await using made = withTokens(answer);
    const { delivered, error, isFinal, responseStatus } = await made.send();
    expect({ delivered, isFinal, responseStatus }).toEqual({
      delivered: false,
      isFinal: false,
      responseStatus: null,
    });
    expect(error).toMatch(/^token server 127\.0\.0\.1:\d+: /);
    expect(error).toContain(said);
    expect(error).not.toMatch(/s3cret|t0ken/);
    expect(made.sentWith()).toEqual([]);
  });
});

test.each([
  ["http://client:s3cret@127.0.0.1:1024/", "DESTINATIONS_ALLOW_PRIVATE"],
  ["https://client:s3cret@private.example.com/", "private.example.com resolves to 10.0.0.1"],
])("a token server has the addresses that destinations may have: %s", async (tokenUrl, said) => {
  const post = postWithToken(() => Promise.reject(new Error("posted")), tokenUrl, {
    clock: manualClock(),
    rules: { allowsPrivate: false },
    resolve: async () => ["10.0.0.1"],
  });
  const sent = post(new URL("https://example.com/"), { headers: {}, body: "" }, signal);
  const error: unknown = await sent.catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(said);
});

test.each([
  ["nonsense", "must be like"],
  ["https://auth.example.com/token", "must be like"],
  ["https://client@auth.example.com/token", "must be like"],
  ["https://client:%zz@auth.example.com/token", "percent-encoded"],
  ["http://client:hunter2@auth.example.com/token", "must start with https://"],
  ["ftp://client:hunter2@auth.example.com/token", "must start with https://"],
  ["https://client:hunter2@10.0.0.1/token", "not a public address"],
  ["https://client:hunter2@auth.example.com:25/token", "Port 25 is not allowed"],
])("the token URL %s is refused: %s", (url, said) => {
  expect(() => tokenRequest(url, { allowsPrivate: false })).toThrow(said);
});
