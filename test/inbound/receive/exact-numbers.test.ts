import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";

import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { json, startApp, type TestApp, testSecret, until } from "../../support/app.ts";
import { longNumber } from "../../support/exact-numbers.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { agentAs } from "../../support/mcp.ts";
import { listed } from "../../support/operator.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { runs } from "../../support/runs.ts";

const secret = testSecret("numbers");
const common = (signs: string) => `displayName: Numbers
signature: { kind: hmac, algorithm: sha256, encoding: hex, from: header.x-signature, signs: "${signs}" }
event: "{/type}"
events: { opened: { severity: error } }
samples: { opened: { body: { type: opened, id: 1, n: 1 } } }
subject: "[thing/{/id}]"
url: "https://things.example/{/n}"
actor: "{/n}"
title: "Thing {/id} of {/n}"
data: { n: "{/n}", id: "{/id}" }
`;
const files: Readonly<Record<string, string>> = {
  numbers: `${common("{body}")}deliveryId: /id\n`,
  numbers_signed: common("{/id}.{/n}.{body}"),
  numbers_each: `${common("{body}")}each: /entry/*/things\n`,
  numbers_form: `${common("{body}")}payload: form\nformField: payload\n`,
  numbers_jwt: common("{body}").replace(
    /^signature: .*$/m,
    "payload: jwt\nsignature: { kind: jwt, from: body, algorithms: [HS256] }",
  ),
  shopify: catalogueFiles["shopify"] ?? "",
};

let folder: string;
let gateway: TestGateway;
let app: TestApp;
beforeAll(async () => {
  folder = temporaryFolder();
  for (const [id, file] of Object.entries(files)) writeFileSync(join(folder, `${id}.yaml`), file);
  gateway = testGateway();
  app = await startApp({
    PROVIDERS_DIR: folder,
    DESTINATIONS_ALLOW_PRIVATE: "true",
    ...Object.fromEntries(
      Object.keys(files).map((id) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, secret]),
    ),
  });
});
afterAll(async () => {
  await app.stop();
  await gateway.stop();
  removeFolder(folder);
});

async function post(id: string, body: string, signed = body, headers: Record<string, string> = {}) {
  const signature = createHmac("sha256", secret).update(signed).digest("hex");
  const all = { "x-signature": signature, ...headers };
  const response = await app.fetch(`/webhooks/${id}`, { method: "POST", headers: all, body });
  return { status: response.status, ...(await json(response)) } as Record<string, unknown>;
}

/** A token with these claims (RFC 7519). */
function tokenOf(claims: string): string {
  const parts = ['{"alg":"HS256"}', claims].map((part) => Buffer.from(part).toString("base64url"));
  const signed = parts.join(".");
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

const detail = async (id: unknown) => json(await app.as("operator", `/v1/events/${String(id)}`));
const thing = (id: string, n: string) => `{"type":"opened","id":${id},"n":${n},"none":"1.0"}`;

/** What an event of `thing` shows, wherever it is read. */
const shown = (id: string, n: string) => ({
  subject: `thing/${id}`,
  title: `Thing ${id} of ${n}`,
  url: `https://things.example/${n}`,
  actor: n,
  data: { n, id },
});

/** The ids that were sent: some numbers are drawn several times. */
const used = new Set<string>();

describe("a number of up to 25 digits", () => {
  test("keeps them in the event, its replay, agents' answers and its idempotency key", async () => {
    const agent = await agentAs(app);
    const property = fc.asyncProperty(longNumber, longNumber, async (id, n) => {
      fc.pre(!used.has(id));
      used.add(id);
      const answer = await post("numbers", thing(id, n));
      expect(answer).toMatchObject({ status: "accepted", idempotencyKey: `numbers:${id}` });
      const path = `/v1/events/${String(answer["id"])}`;
      expect(await detail(answer["id"])).toMatchObject({ ...shown(id, n), body: thing(id, n) });
      expect((await app.as("operator", `${path}/replay`, { method: "POST" })).status).toBe(200);
      expect(await detail(answer["id"])).toMatchObject(shown(id, n));
      const told = JSON.stringify(await agent.tool("get_event", { id: answer["id"] }));
      expect(told).toContain(`Thing ${id} of ${n}`);
      expect(await post("numbers", thing(id, n))).toMatchObject({ status: "duplicate" });
    });
    await fc.assert(property, { numRuns: runs(60), endOnFailure: true });
  });

  test("keeps them where a signature covers it, in items, forms and the claims of tokens", async () => {
    const property = fc.asyncProperty(longNumber, longNumber, async (id, n) => {
      fc.pre(!used.has(id));
      used.add(id);
      const body = thing(id, n);
      const form = new URLSearchParams({ payload: body }).toString();
      const answers = [
        await post("numbers_signed", body, `${id}.${n}.${body}`),
        await post("numbers_each", `{"entry":[{"at":${n},"things":[${body}]}]}`),
        await post("numbers_form", form),
        await post("numbers_jwt", tokenOf(`{"exp":${app.clock.now()},${body.slice(1)}`)),
      ];
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: "accepted" });
        expect(await detail(answer["id"])).toMatchObject(shown(id, n));
      }
    });
    await fc.assert(property, { numRuns: runs(60), endOnFailure: true });
  });

  test("keeps them at destinations, in their templates too", async () => {
    const [id, n] = ["820982911946154508", "0.1234567890123456789012345"];
    const template = `{"id":${id}, "n":[${n}, 1.5, "{/data/event/data/n}"], "is":true}`;
    const one = { url: gateway.url, filter: 'event.provider == "numbers"' };
    for (const fields of [
      { format: "json" },
      { format: "cloudevents" },
      { format: "original" },
      { format: "json", template },
    ]) {
      const name = `${fields.format}-${"template" in fields}`;
      const body = JSON.stringify({ ...one, ...fields, name });
      const headers = { "content-type": "application/json" };
      const made = await app.as("admin", "/v1/destinations", { method: "POST", body, headers });
      expect([made.status, await made.text()]).toEqual([201, expect.anything()]);
    }
    await post("numbers", thing(id, n));
    await until(() => gateway.received.length === 4);
    const bodies = gateway.received.map(({ body }) => body);
    expect(bodies).toContain(thing(id, n));
    expect(bodies).toContain(`{"id":${id},"n":[${n},1.5,"${n}"],"is":true}`);
    const others = bodies.filter((body) => body.includes(`"subject":"thing/${id}"`));
    expect(others).toHaveLength(2);
    for (const body of others) expect(body).toContain(`"n":"${n}"`);
  });

  test("keeps them in the formatted body of a rejection, with order and equal keys", async () => {
    const property = fc.asyncProperty(longNumber, longNumber, async (id, n) => {
      const body = `{"2":${id},"1":${n},"a":-0,"a":1e400,"b":1.0}`;
      expect(await post("numbers", body, "another body")).toMatchObject({ status: 401 });
      const [newest] = await listed(app, "/v1/rejections?provider=numbers&limit=1");
      const path = `/v1/rejections/${String(newest?.["id"])}`;
      const { bodyPretty } = await json(await app.as("operator", path));
      expect(String(bodyPretty).replaceAll(/\s/g, "")).toBe(body);
      // One address has 20 failures a minute.
      app.clock.advance(60_000);
    });
    await fc.assert(property, { numRuns: runs(40), endOnFailure: true });
  });
});

describe("two events that differ only in a digit", () => {
  const order = (id: string) => `{"id":${id},"name":"#1","total_price":"1.00"}`;

  test("of an id of Shopify's are two, with their own subjects", async () => {
    const send = (id: string) => {
      const signature = createHmac("sha256", secret).update(order(id)).digest("base64");
      const headers = { "x-shopify-hmac-sha256": signature, "x-shopify-topic": "orders/create" };
      return post("shopify", order(id), "", headers);
    };
    const ids = ["820982911946154508", "820982911946154509"];
    const answers = [];
    for (const id of ids) answers.push(await send(id));
    expect(answers).toMatchObject([{ status: "accepted" }, { status: "accepted" }]);
    const events = await Promise.all(answers.map(({ id }) => detail(id)));
    expect(events.map(({ subject }) => subject)).toEqual(ids.map((id) => `order/${id}`));
  });

  test.each([
    ["820982911946154508", "820982911946154509"],
    ["0.10000000000000000001", "0.10000000000000000002"],
    ["0", "-0"],
    ["1", "1.0"],
    ["null", "1e400"],
    ["3e400", "2e400"],
  ])("of an item, %s and %s, are two", async (one, other) => {
    const items = (...numbers: readonly string[]) =>
      `{"entry":[{"things":[${numbers.map((n) => thing("7", n)).join(", ")}]}]}`;
    const before = (await listed(app, "/v1/events?provider=numbers_each&limit=100")).length;
    expect(await post("numbers_each", items(one, other))).toMatchObject({ status: "accepted" });
    const stored = await listed(app, "/v1/events?provider=numbers_each&limit=100");
    expect(stored.length - before).toBe(2);
    for (const again of [items(one), items(other), items(other, one)])
      expect(await post("numbers_each", again)).toMatchObject({ status: "duplicate" });
  });

  test.each(["1e400", "2e400"])("of the id %s, which no double has, are two", async (id) => {
    expect(await post("numbers", thing(id, "1"))).toMatchObject({
      status: "accepted",
      idempotencyKey: `numbers:${id}`,
    });
  });

  test("around an item are two", async () => {
    const around = (at: string) => `{"entry":[{"at":${at},"things":[${thing("8", "8")}]}]}`;
    const [one, other] = ["820982911946154508", "820982911946154509"];
    expect(await post("numbers_each", around(one))).toMatchObject({ status: "accepted" });
    expect(await post("numbers_each", around(other))).toMatchObject({ status: "accepted" });
    expect(await post("numbers_each", around(one))).toMatchObject({ status: "duplicate" });
  });
});
