import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { readProvider } from "../../../src/inbound/providers/files/folder.ts";
import { signedHeaders } from "../../../src/inbound/signatures/sign.ts";
import { json, startApp, testSecret, until } from "../../support/app.ts";
import { folderForTests } from "../../support/folder.ts";
import { resources } from "../../support/resources.ts";
import { appPerTest } from "../../support/running-app.ts";
import { serving } from "../../support/serving.ts";
import { fileProviders } from "../../support/signed-request.ts";

const folder = folderForTests();
const ids = ["slack", "zoom", "okta", "gitlab", "shopify", "trello", "x"];
const secret = "a secret that only the two know";
const keyed = `displayName: Keyed
payload: jwt
signature:
  kind: jwt
  from: body
  algorithms: [ES256]
  audience: "{secret}"
  key: { url: "http://127.0.0.1:1/keys", format: jwks }
event: "{/type}"
events: { opened: { type: opened } }
samples: { opened: { body: { type: opened } } }
`;
const providers = fileProviders(folder, ids, { keyed }, secret);
// It signs challenges only with a secret of its own.
const env = { ...providers.env, X_WEBHOOK_SECRET: "a consumer secret of one app at X" };
const app = appPerTest(env);

/** A signed request: a sample of the file, or its headers over another body. */
const sent = (id: string, event: string, body?: object) =>
  providers.request(app, id, body === undefined ? event : { headers: {}, body: { ...body } });

const taken = resources();
const post = (id: string, init: RequestInit) => app.fetch(`/webhooks/${id}`, init);

describe("a provider of a file", () => {
  test("is registered beside the built-in ones and listed like them", async () => {
    const { webhooks } = await json(await app.fetch("/"));
    expect(webhooks).toMatchObject({ providers: expect.arrayContaining(["code_host", "slack"]) });
    const providers = await json(await app.as("operator", "/v1/providers"));
    expect(JSON.stringify(providers)).toContain('"displayName":"Slack"');
    const metrics = await (await app.fetch("/metrics")).text();
    expect(metrics).toContain(
      'skyhook_webhook_receipts_total{provider="slack",verdict="accepted"} 0',
    );
  });

  test("stores what verifies, once, and notifies", async () => {
    const request = sent("slack", "app_mention");
    expect(await json(await post("slack", request))).toMatchObject({
      status: "accepted",
      event: "mention.received",
    });
    expect(await json(await post("slack", request))).toMatchObject({ status: "duplicate" });
    const page = await json(await app.as("operator", "/v1/notifications"));
    expect(JSON.stringify(page)).toContain("Mention in C0LAN2Q65");
  });

  test("never keeps a secret that is sent itself", async () => {
    const headers = { "x-gitlab-token": "another service's secret", "x-gitlab-event": "Push Hook" };
    expect((await post("gitlab", { method: "POST", headers, body: "{}" })).status).toBe(401);
    const { data } = await json(await app.as("operator", "/v1/rejections?provider=gitlab"));
    const [first] = Array.isArray(data) ? data : [];
    const rejection = await json(await app.as("operator", `/v1/rejections/${first.id}`));
    expect(JSON.stringify(rejection)).not.toContain("another service's secret");
  });

  test("limits an address whose deliveries name keys that cannot be fetched", async () => {
    const head = Buffer.from('{"alg":"ES256","kid":"k1"}').toString("base64url");
    const statuses: number[] = [];
    for (let count = 0; count < 22; count += 1) {
      const response = await post("keyed", { method: "POST", body: `${head}.e30.AAAA` });
      statuses.push(response.status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 503));
    expect(statuses.slice(20)).toEqual([429, 429]);
  });

  test.each([
    [{}, 0],
    [{ DESTINATIONS_ALLOW_PRIVATE: "false" }, 0],
    [{ DESTINATIONS_ALLOW_PRIVATE: "operators" }, 1],
    [{ DESTINATIONS_ALLOW_PRIVATE: "true" }, 1],
  ])(
    "with %j, a stranger's key id causes %d requests to this machine [API7-9]",
    async (given, count) => {
      let requests = 0;
      await using server = serving(() => {
        requests += 1;
        return new Response("no", { status: 404 });
      });
      const file = keyed.replace("127.0.0.1:1", `127.0.0.1:${server.port}`);
      const own = fileProviders(taken.newFolder(), [], { keyed: file }, secret);
      await using other = await startApp({ ...own.env, ...given });
      const head = Buffer.from('{"alg":"ES256","kid":"k1"}').toString("base64url");
      const sentToken = { method: "POST", body: `${head}.e30.AAAA` };
      expect((await other.fetch("/webhooks/keyed", sentToken)).status).toBe(503);
      expect(requests).toBe(count);
    },
  );
});

describe("what Slack posts as a form", () => {
  const command = new URLSearchParams({
    command: "/book",
    text: "flight 42 &amp; seat 7A",
    user_name: "ada",
    trigger_id: "13345224609.738474920.1",
  });
  const payload = (value: object) => new URLSearchParams({ payload: JSON.stringify(value) });
  const received = '{"response_type":"ephemeral","text":"/book was received."}';

  test.each([
    ["a slash command", command, 200, received, ["accepted", "/book flight 42 & seat 7A"]],
    [
      "a dialog",
      payload({ type: "view_submission", trigger_id: "1.2.a", user: { username: "ada" } }),
      200,
      "",
      ["accepted", expect.stringContaining("ada")],
    ],
  ])("%s is stored once, and answered as Slack reads it", async (_, form, status, text, event) => {
    const provider = readProvider("slack", join(folder, "slack.yaml"));
    const bytes = Buffer.from(form.toString());
    const unsigned = { method: "POST", url: "", headers: {}, bytes };
    const headers = signedHeaders(provider.signature, { secret }, unsigned, app.clock.now());
    for (let count = 0; count < 2; count += 1) {
      const response = await post("slack", { method: "POST", headers, body: bytes });
      expect([response.status, await response.text()]).toEqual([status, text]);
    }
    const { data } = await json(await app.as("operator", "/v1/events"));
    const [first, ...others] = Array.isArray(data) ? data : [];
    expect(others).toEqual([]);
    expect([first.status, first.title]).toEqual(event);
    const metrics = await (await app.fetch("/metrics")).text();
    expect(metrics).toContain(`{provider="slack",verdict="${event[0]}"} 1`);
    expect(metrics).toContain('{provider="slack",verdict="duplicate"} 1');
  });
});

describe("a handshake", () => {
  const challenge = { type: "url_verification", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY" };

  test("that is signed is answered and stores nothing", async () => {
    const response = await post("slack", sent("slack", "app_mention", challenge));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("x-request-id")).not.toContain(",");
    expect(await json(response)).toEqual({ challenge: challenge.challenge });
    expect(await json(await app.as("operator", "/v1/events"))).toMatchObject({ data: [] });
    const metrics = await (await app.fetch("/metrics")).text();
    expect(metrics).toContain('{provider="slack",verdict="handshake"} 1');
  });

  test("is not answered if its signature is wrong", async () => {
    const { headers } = sent("slack", "app_mention", challenge);
    const body = JSON.stringify({ ...challenge, challenge: "another" });
    expect((await post("slack", { method: "POST", headers, body })).status).toBe(401);
  });

  test.each([
    ["missing", {}],
    ["an object", { challenge: {} }],
    ["too long", { challenge: "x".repeat(1_001) }],
  ])("whose value is %s is 400", async (_, fields) => {
    const request = sent("slack", "app_mention", { type: "url_verification", ...fields });
    expect((await post("slack", request)).status).toBe(400);
  });

  test("by GET echoes a header; other GETs are 405", async () => {
    const headers = { "x-okta-verification-challenge": "my challenge" };
    expect(await json(await app.fetch("/webhooks/okta", { headers }))).toEqual({
      verification: "my challenge",
    });
    expect((await app.fetch("/webhooks/okta")).status).toBe(405);
    expect((await app.fetch("/webhooks/slack", { headers })).status).toBe(405);
  });

  test.each([
    ["okta", "HEAD", 200],
    ["trello", "HEAD", 200],
    // Trello's file declares HEAD alone.
    ["trello", "GET", 405],
    ["trello", "PUT", 405],
    ["slack", "HEAD", 405],
  ])("of %s by %s is %d", async (id, method, status) => {
    const headers = { "x-okta-verification-challenge": "my challenge" };
    const response = await app.fetch(`/webhooks/${id}`, { method, headers });
    expect(response.status).toBe(status);
    expect(await json(await app.as("operator", "/v1/events"))).toMatchObject({ data: [] });
  });

  describe("of X, which is not signed", () => {
    const token = "M2RkODJkZmMtYjlkYi00NmQ4LTk0MGUtM2JjYzkwM2Q4MjQ0";
    const ask = (value: string, init?: RequestInit) =>
      app.fetch(`/webhooks/x?crc_token=${encodeURIComponent(value)}`, init);

    test("is answered as X's own library does", async () => {
      expect(await json(await ask(token))).toEqual({
        response_token: "sha256=ZMM0QPbNhRpbjSr8PCuY52bjMHeH1XQsXNJ4+cS8V9M=",
      });
      expect((await ask(token, { method: "HEAD" })).status).toBe(200);
    });

    test("signs no text that a delivery could be", async () => {
      const long = "a".repeat(101);
      for (const text of [" 1", "1\n", long, ...'{} [] "a" 1.5 a=b a&b é v0:1:a'.split(" ")]) {
        const response = await ask(text);
        expect([text, response.status]).toEqual([text, 400]);
        expect(await response.text()).not.toContain("sha256=");
      }
    });

    test.each(["1", "true", token])("signs %s, but not as a delivery [API10-13]", async (text) => {
      const { response_token: signature } = await json(await ask(text));
      const headers = { "x-twitter-webhooks-signature": String(signature) };
      const forged = await app.fetch("/webhooks/x", { method: "POST", headers, body: text });
      expect(forged.status).toBe(401);
      expect(await json(await app.as("operator", "/v1/events"))).toMatchObject({ data: [] });
      const rejected = await json(await app.as("operator", "/v1/rejections"));
      const [{ id } = { id: "" }] = rejected["data"] as { id: string }[];
      expect(await json(await app.as("operator", `/v1/rejections/${id}`))).toMatchObject({
        explanation: { cause: "unknown", detail: expect.stringContaining("signed for anyone") },
      });
    });

    test.each([
      ["another provider has its secret", secret],
      ["guesses could find its secret", "short"],
    ])("is rejected if %s", async (_, weakSecret) => {
      await using weak = await startApp({ ...env, X_WEBHOOK_SECRET: weakSecret });
      expect((await weak.fetch(`/webhooks/x?crc_token=${token}`)).status).toBe(401);
    });
  });
});

describe("a secret in a handshake", () => {
  /** An app that takes the secret of Asana from a handshake, and stores it in `own` beside the files. */
  async function withAsana(
    files: Readonly<Record<string, string | undefined>> = {},
    env: Record<string, string> = {},
    logFd?: number,
  ) {
    const own = taken.newFolder();
    for (const [name, text = ""] of Object.entries({
      "asana.yaml": catalogueFiles["asana"],
      ...files,
    })) {
      writeFileSync(join(own, name), text, { mode: 0o600 });
    }
    const asana = await taken.app({ PROVIDERS_DIR: own, ...env }, undefined, {
      secretsDir: own,
      ...(logFd !== undefined && { logFd }),
    });
    const greet = (text: string) =>
      asana.fetch("/webhooks/asana", {
        method: "POST",
        headers: { "x-hook-secret": text },
        body: "",
      });
    return { greet, stored: join(own, "asana_webhook_secret") };
  }

  test("is stored once; another one is rejected", async () => {
    const { greet, stored } = await withAsana();
    const first = await greet("b537207f20cbfa02357cf448134da559");
    expect([first.status, first.headers.get("x-hook-secret")]).toEqual([
      200,
      "b537207f20cbfa02357cf448134da559",
    ]);
    expect(readFileSync(stored, "utf8")).toStartWith("b537207f20cb");
    expect((await greet("b537207f20cbfa02357cf448134da559")).status).toBe(200);
    const second = await greet("another-secret-of-a-stranger");
    expect([second.status, second.headers.get("x-hook-secret")]).toEqual([401, null]);
    expect((await greet("short")).status).toBe(401);
  });

  test("is not stored if others can guess or know it, and the log says why", async () => {
    const before = "the-secret-of-Slack-before";
    const { logFd, text } = taken.log();
    const { greet, stored } = await withAsana(
      {
        "slack.yaml": catalogueFiles["slack"],
        slack_webhook_secret: "the-secret-of-Slack",
        slack_webhook_secret_previous: before,
      },
      { LOG_LEVEL: "warn", LOG_FORMAT: "json" },
      logFd,
    );
    for (const [secret, why] of [
      ["15-characters!!", "has fewer than 16 characters"],
      ["d5f1a3c7e9b2486f0a1c3e5d7f9b2a4c", "is an example from documentation"],
      ["the-secret-of-Slack", "is that of slack"],
      [before, "is that of slack"],
    ] as const) {
      const response = await greet(secret);
      expect([secret, response.status]).toEqual([secret, 401]);
      expect(response.headers.get("x-hook-secret")).toBeNull();
      expect(await response.text()).not.toContain("slack");
      await until(() => text().includes(`its secret ${why}`));
    }
    expect(existsSync(stored)).toBe(false);
    expect((await greet("b537207f20cbfa02357cf448134da559")).status).toBe(200);
  });

  test("that is weak counts as a failure, so that guesses are limited", async () => {
    const { greet } = await withAsana();
    const guess = async () => (await greet(testSecret("code_host"))).status;
    for (let count = 0; count < 20; count += 1) expect(await guess()).toBe(401);
    expect(await guess()).toBe(429);
  });

  test("is neither stored if the scheme cannot use it, nor accepted after another one", async () => {
    const coded = catalogueFiles["asana"]?.replace(
      "kind: hmac",
      "kind: hmac\n  secretEncoding: hex",
    );
    const { greet, stored } = await withAsana({ "asana.yaml": coded });
    expect((await greet("not-hexadecimal-at-all-but-long")).status).toBe(400);
    expect(existsSync(stored)).toBe(false);
    writeFileSync(stored, "00112233445566778899aabbccddeeff", { mode: 0o600 });
    expect((await greet("b537207f20cbfa02357cf448134da559")).status).toBe(401);
    expect(readFileSync(stored, "utf8")).toStartWith("00112233");
  });
});
