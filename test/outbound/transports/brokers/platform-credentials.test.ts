import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { emptyEvent } from "../../../../src/event/event.ts";
import { sender } from "../../../../src/outbound/deliveries/send.ts";
import { brokers } from "../../../../src/outbound/transports/brokers/brokers.ts";
import type { Message, Platform } from "../../../../src/outbound/transports/transport.ts";
import { until } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { freePort } from "../../../support/free-port.ts";
import { never } from "../../../support/gateway.ts";
import { destinationRow } from "../../../support/rows.ts";
import { serving } from "../../../support/serving.ts";

const folder = mkdtempSync(join(tmpdir(), "skyhook-"));
afterAll(() => rmSync(folder, { recursive: true }));
const tokenFile = join(folder, "token");
writeFileSync(tokenFile, "s3cret-token-1\n");

const message: Message = {
  id: "ntf_1.dst_1",
  headers: { "content-type": "application/json" },
  body: "{}",
  event: { id: "evt_1", provider: "p", type: "t", createdAt: new Date(0) },
  attributes: null,
  orderKey: null,
};
const signal = new AbortController().signal;
const minutes = (count: number) => count * 60_000;

/** What a platform sends: STS in XML, the agent of a container in JSON. Each answer has another key. */
function credentials(kind: "sts" | "container", number: number, endsAtMs: number): string {
  const [key, ends] = [`KEY${number}`, new Date(endsAtMs).toISOString()];
  return kind === "sts"
    ? `<R><Credentials><AccessKeyId>${key}</AccessKeyId><SecretAccessKey>abc/+=</SecretAccessKey><SessionToken>session-${number}</SessionToken><Expiration>${ends}</Expiration></Credentials></R>`
    : JSON.stringify({
        AccessKeyId: key,
        SecretAccessKey: "abc/+=",
        Token: `session-${number}`,
        Expiration: ends,
      });
}

type Answer = (number: number) => Response | Promise<Response>;

/** A destination whose requests are signed with what a platform's server answers. */
function onPlatform(
  variables: (url: string) => Platform,
  answer: Answer,
  answerOfBucket: Answer = () => new Response(),
) {
  const asked: { readonly headers: Headers; readonly path: string; readonly body: string }[] = [];
  const keys: string[] = [];
  const platform = serving(async (request) => {
    const { pathname, search } = new URL(request.url);
    asked.push({
      headers: request.headers,
      path: pathname + search,
      body: await request.text(),
    });
    return answer(asked.length);
  });
  const bucket = serving(({ headers }) => {
    const [, key = ""] = /Credential=([^/]+)/.exec(headers.get("authorization") ?? "") ?? [];
    keys.push(`${key} ${headers.get("x-amz-security-token") ?? ""}`);
    return answerOfBucket(keys.length);
  });
  const clock = manualClock();
  const connection = brokers.s3.connect(
    `http://127.0.0.1:${bucket.port}/bucket/{id}?region=eu-west-1`,
    {
      clock,
      rules: { allowsPrivate: true },
      resolve: async () => [],
      platform: variables(`http://127.0.0.1:${platform.port}`),
    },
  );
  return {
    asked,
    keys,
    clock,
    send: () => connection.send(message, signal),
    error: () =>
      connection.send(message, signal).then(
        () => null,
        (error: unknown) => String(error),
      ),
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]();
      await bucket[Symbol.asyncDispose]();
    },
  };
}

const webIdentity = (url: string): Platform => ({
  AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
  AWS_ROLE_ARN: "arn:aws:iam::1:role/skyhook",
  AWS_ENDPOINT_URL_STS: url,
});
const container = (url: string): Platform => ({
  AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials?a=b`,
  AWS_CONTAINER_AUTHORIZATION_TOKEN: "agent-token",
});

test("a web identity becomes the role, with the token that the file has now", async () => {
  const hour = (number: number) => clock.now() + minutes(60 * number);
  await using made = onPlatform(webIdentity, (n) => new Response(credentials("sts", n, hour(n))));
  const { clock, asked, keys, send } = made;
  await Promise.all([send(), send(), send()]);
  expect(asked.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
    {
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: "arn:aws:iam::1:role/skyhook",
      RoleSessionName: "skyhook",
      WebIdentityToken: "s3cret-token-1",
    },
  ]);
  expect(keys).toEqual(Array(3).fill("KEY1 session-1"));
  writeFileSync(tokenFile, "s3cret-token-2");
  clock.advance(minutes(61));
  await send();
  expect([asked.length, asked[1]?.body]).toEqual([
    2,
    expect.stringContaining("WebIdentityToken=s3cret-token-2"),
  ]);
  expect(keys.at(-1)).toBe("KEY2 session-2");
});

test("a container's credentials are asked for with its token", async () => {
  const answer = (n: number) => new Response(credentials("container", n, Date.UTC(2099, 1)));
  await using made = onPlatform(container, answer);
  await made.send();
  expect(made.keys).toEqual(["KEY1 session-1"]);
  const [request] = made.asked;
  expect(request?.path).toBe("/v1/credentials?a=b");
  expect(request?.headers.get("authorization")).toBe("agent-token");
  await using withFile = onPlatform(
    (url) => ({ ...container(url), AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile }),
    answer,
  );
  await withFile.send();
  expect(withFile.asked[0]?.headers.get("authorization")).toStartWith("s3cret-token-");
});

test("credentials are renewed five minutes before they end, and used until then if that fails", async () => {
  const answer = (n: number) =>
    n === 2
      ? new Response("", { status: 503 })
      : new Response(credentials("sts", n, clock.now() + minutes(60)));
  await using made = onPlatform(webIdentity, answer);
  const { clock, asked, keys, send } = made;
  await send();
  clock.advance(minutes(54));
  await send();
  expect(asked).toHaveLength(1);
  clock.advance(minutes(2));
  await Promise.all([send(), send()]);
  await until(() => asked.length === 2);
  await send();
  expect([asked.length, keys.at(-1)]).toEqual([2, "KEY1 session-1"]);
  clock.advance(10_000);
  await until(async () => {
    await send();
    return keys.at(-1) === "KEY3 session-3";
  });
  expect(asked).toHaveLength(3);
});

test("credentials that AWS refuses as expired are asked for again", async () => {
  const answer = (n: number) => new Response(credentials("sts", n, Date.UTC(2099, 1)));
  const expired = () => new Response("<Code>ExpiredToken</Code>", { status: 400 });
  await using made = onPlatform(webIdentity, answer, (n) => (n === 1 ? expired() : new Response()));
  expect(await made.error()).toContain("ExpiredToken");
  await made.send();
  expect(made.keys).toEqual(["KEY1 session-1", "KEY2 session-2"]);
});

describe("an error names the platform, and repeats no token:", () => {
  const text =
    (body: string, status = 200) =>
    () =>
      new Response(body, { status });
  test.each<readonly [string, (url: string) => Platform, Answer, string]>([
    ["nothing is set", () => ({}), text(""), "the URL has no KEY:SECRET@, and neither AWS_WEB"],
    [
      "the token file is missing",
      (url) => ({ ...webIdentity(url), AWS_WEB_IDENTITY_TOKEN_FILE: `${folder}/none` }),
      text(""),
      "ENOENT",
    ],
    [
      "STS refuses",
      webIdentity,
      text("<Error><Code>InvalidIdentityToken</Code><Message>s3cret</Message></Error>", 400),
      "answered HTTP 400 InvalidIdentityToken",
    ],
    ["STS answers something else", webIdentity, text("<h1>s3cret</h1>"), "has no credentials"],
    ["STS answers too much", webIdentity, text("s3cret".repeat(20_000)), "larger than 65536 bytes"],
    ["STS hangs", webIdentity, never, "no answer within 5 s"],
    ["STS redirects", webIdentity, () => Response.redirect("http://127.0.0.1:9/s3cret"), "edirect"],
    [
      "nobody listens",
      () => webIdentity(`http://127.0.0.1:${freePort()}`),
      text(""),
      "connection refused",
    ],
    ["the container's agent refuses", container, text("s3cret", 403), "answered HTTP 403"],
    ["the agent answers no JSON", container, text("s3cret"), "has no credentials"],
    [
      "the token has several lines",
      (url) => ({ ...container(url), AWS_CONTAINER_AUTHORIZATION_TOKEN: "s3cret\nx: y" }),
      text("{}"),
      "has no credentials",
    ],
    [
      "the container's address is elsewhere",
      () => container("http://10.1.2.3"),
      text(""),
      "must be https, or http to this machine, 169.254.170.2",
    ],
  ])("%s", async (_, variables, answer, said) => {
    await using made = onPlatform(variables, answer);
    const error = await made.error();
    expect(error).toContain(`TransportError: credentials of the platform: `);
    expect(error).toContain(said);
    expect(error).not.toContain("s3cret");
    expect(made.keys).toEqual([]);
  });
});

test("the region of an address cannot name another host for the server's token", () => {
  const address = "https://bucket.example.com/{id}?region=x.example.com/";
  expect(() => brokers.s3.check(address, { allowsPrivate: true })).toThrow("must have region=");
});

test.each([
  [null, 1],
  ["ada", 0],
] as const)(
  "the server's identity is for the operators: owner %p, %d requests",
  async (ownerId, count) => {
    let asked = 0;
    await using sts = serving(() => new Response(String((asked += 1)), { status: 403 }));
    const parts = {
      clock: manualClock(),
      privateAllowed: "true",
      resolve: async () => [],
      originalOf: () => Promise.reject(new Error("no original")),
      platform: webIdentity(sts.url.href),
    } as const;
    const destination = destinationRow(1, { ownerId, transport: "sqs" });
    const url = "http://127.0.0.1:1024/1/events?region=eu-west-1";
    const secrets = { url, secret: null, previous: null, headers: {}, tokenUrl: null };
    const createdAt = new Date(0);
    const sent = {
      event: {
        ...emptyEvent,
        id: "evt_1",
        provider: "p",
        type: "t",
        status: "accepted",
        idempotencyKey: "p:1",
        occurredAt: createdAt,
        createdAt,
        title: "t",
      },
      notification: { id: "ntf_1", title: "t", text: "t", url: null, severity: "info", createdAt },
    } as const;
    const { error } = await sender(parts, destination, secrets).send([sent], null, signal);
    expect(error).toContain(count === 1 ? "answered HTTP 403" : "the URL has no KEY:SECRET@");
    expect(asked).toBe(count);
  },
);
