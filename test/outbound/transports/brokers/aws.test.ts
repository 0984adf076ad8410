import { describe, expect, test } from "bun:test";

import { systemClock } from "../../../../src/base/clock.ts";
import { brokers } from "../../../../src/outbound/transports/brokers/brokers.ts";
import { type Message, TransportError } from "../../../../src/outbound/transports/transport.ts";
import { serving } from "../../../support/serving.ts";

const message: Message = {
  id: "ntf_1.dst_1",
  headers: { "content-type": "application/json", "webhook-id": "ntf_1" },
  body: '{"a":1}',
  event: { id: "evt_1", provider: "p", type: "../t", createdAt: new Date(0) },
  attributes: null,
  orderKey: null,
};
const confirmed = () => new Response('{"MessageId":"1"}');

/** Sends a message to a server that answers so. Returns its request, null without one, and the error, null without one. */
async function sent(
  name: "sqs" | "s3",
  fields: Partial<Message> = {},
  answer: () => Response = confirmed,
  query = "",
) {
  let request: { path: string; headers: Headers; text: string } | null = null;
  await using server = serving(async (received) => {
    const { pathname } = new URL(received.url);
    request = { path: pathname, headers: received.headers, text: await received.text() };
    return answer();
  });
  const path = name === "sqs" ? "1/events.fifo" : "bucket/{type}/{id}";
  const url = `http://key:secret@127.0.0.1:${server.port}/${path}?region=eu-west-1${query}`;
  const parts = {
    clock: systemClock,
    rules: { allowsPrivate: true },
    resolve: async () => [],
    platform: {},
  };
  const { signal } = new AbortController();
  const sending = brokers[name].connect(url, parts).send({ ...message, ...fields }, signal);
  const error: unknown = await sending.then(() => null).catch((thrown: unknown) => thrown);
  if (error !== null && !(error instanceof TransportError)) throw error;
  // TypeScript does not see that the server sets it.
  const taken = request as { path: string; headers: Headers; text: string } | null;
  return { request: taken, error };
}

describe("the error of an answer says what to do next", () => {
  test.each([
    ["s3", 413, "", { status: 413, isFinal: true }],
    ["s3", 400, "<Code>EntityTooLarge</Code>", { isFinal: true }],
    ["s3", 404, "", { status: 404, isFinal: false }],
    ["s3", 301, "", { status: 301, isFinal: false }],
    ["s3", 503, "", { isFinal: false, retryAfterMs: 7_000 }],
    ["sqs", 400, '{"__type":"InvalidMessageContents"}', { isFinal: true }],
    ["sqs", 200, "<h1>It works!</h1>", { status: null, isFinal: false }],
  ] as const)("%s %d %s", async (name, status, text, expected) => {
    const answer = () => new Response(text, { status, headers: { "retry-after": "7" } });
    expect((await sent(name, {}, answer)).error).toMatchObject(expected);
  });
});

test.each(["sqs", "s3"] as const)(
  "%s: the signature covers the body, and the token is sent",
  async (name) => {
    const { request, error } = await sent(name, {}, confirmed, "&sessionToken=temporary");
    expect(error).toBeNull();
    const hash = new Bun.CryptoHasher("sha256").update(request?.text ?? "").digest("hex");
    expect(request?.headers.get("x-amz-content-sha256")).toBe(hash);
    expect(request?.headers.get("x-amz-security-token")).toBe("temporary");
    expect(request?.headers.get("authorization")).toContain("x-amz-content-sha256");
  },
);

test("s3: an object has the headers, under a key that values cannot leave", async () => {
  const { request } = await sent("s3");
  expect(request?.path).toBe("/bucket/.._t/ntf_1.dst_1");
  expect(request?.headers.get("x-amz-meta-webhook-id")).toBe("ntf_1");
  expect(request?.text).toBe('{"a":1}');
});

describe("sqs", () => {
  test.each([
    [null, "ntf_1.dst_1"],
    ["order-7", "order-7"],
    ["Zoë", expect.stringMatching(/^[\da-f]{64}$/)],
    ["x".repeat(129), expect.stringMatching(/^[\da-f]{64}$/)],
  ])("the group of the order key %s", async (orderKey, group) => {
    const { request } = await sent("sqs", { orderKey });
    expect(JSON.parse(request?.text ?? "")).toMatchObject({
      MessageGroupId: group,
      MessageDeduplicationId: "ntf_1.dst_1",
    });
  });

  test("has at most ten attributes, the last one with the other headers", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `h${index}`);
    const { request } = await sent("sqs", {
      headers: Object.fromEntries(names.map((name) => [name, name])),
    });
    const { MessageAttributes: attributes } = JSON.parse(request?.text ?? "");
    expect(Object.keys(attributes)).toEqual([...names.slice(0, 9), "headers"]);
    expect(JSON.parse(attributes.headers.StringValue)).toEqual({
      h9: "h9",
      h10: "h10",
      h11: "h11",
    });
  });

  test.each([
    ["control characters", "a\u0000b"],
    ["other bytes than UTF-8", new Uint8Array([0xff])],
    ["more than 1 MiB", "x".repeat(1_048_577)],
  ])("is not sent %s, now or later", async (_, body) => {
    const { request, error } = await sent("sqs", { body });
    expect([request, error?.isFinal]).toEqual([null, true]);
  });
});
