// Takes seconds: batches and retries run on the clock of the test, with real requests.
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { verify as octokitVerify } from "@octokit/webhooks-methods";

import { json, startApp, testSecret, until } from "../../support/app.ts";
import { addFlight, post } from "../../support/flights.ts";
import { folderForTests } from "../../support/folder.ts";
import { never, type Received, testGateway } from "../../support/gateway.ts";
import { deliver, hour, second, untilLater } from "../../support/notifying.ts";
import { itemsOf, listed } from "../../support/operator.ts";
import { holdSeat, payer } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";
import { requireSigned } from "../../support/signed-message.ts";
import { fileProviders } from "../../support/signed-request.ts";

/** An app with one destination, whose server answers with `answer`. */
async function withDestination(
  fields: object,
  answer: (number: number, received: Received) => number = () => 200,
  env: Record<string, string> = {},
) {
  const target = testGateway((number, got) => new Response(null, { status: answer(number, got) }));
  const app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true", ...env });
  const body = { name: "target", format: "json", url: target.url, ...fields };
  const made = await app.as("admin", "/v1/destinations", post(body));
  const { id, secret, ...shown } = Object(await json(made));
  expect([made.status, shown]).toEqual([201, expect.anything()]);
  const path = `/v1/destinations/${String(id)}`;
  return {
    app,
    target,
    path,
    secret: String(secret),
    shown: async () => Object(await json(await app.as("admin", path))),
    change: (changes: object) => app.as("admin", path, { ...post(changes), method: "PATCH" }),
    deliveries: async () =>
      itemsOf(Object(await json(await app.as("admin", `${path}/deliveries?limit=100`))).data),
    async [Symbol.asyncDispose]() {
      await app.stop();
      await target.stop();
    },
  };
}

const sendgrid = fileProviders(folderForTests(), ["sendgrid"]);

/** An app that stores nothing. */
const rejecting = appForAll();

async function errorsOf(changes: object) {
  const body = { name: "other", format: "json", url: "https://example.com/", ...changes };
  const answer = await rejecting.as("admin", "/v1/destinations", post(body));
  expect(answer.status).toBe(422);
  return itemsOf(Object(await json(answer)).errors).map(
    ({ pointer, detail }) => `${String(pointer)}: ${String(detail)}`,
  );
}

test.each([
  [{ headers: "nonsense" }, "/headers: Line 1: write a header as Name: value"],
  [{ headers: "Host: a" }, "/headers: host is set by Skyhook. Leave it out."],
  [{ headers: "webhook-id: a" }, "/headers: webhook-id is set by Skyhook. Leave it out."],
  [{ headers: "a: 1\nA: 2" }, "/headers: a must not be repeated"],
  [{ headers: "a: ü" }, "/headers: a needs a value of 1 to 2000 printable ASCII characters"],
  [{ headers: "a:" }, "/headers: a needs a value of 1 to 2000 printable ASCII characters"],
  [
    { headers: "a: 1", format: "slack" },
    "/headers: Only cloudevents, json, original have headers of your own. Leave it out.",
  ],
  [
    { tokenUrl: "https://c:s@example.com/", format: "slack" },
    "/tokenUrl: Only cloudevents, json, original send a token, by http. Leave it out.",
  ],
  [
    { tokenUrl: "https://c:s@example.com/", transport: "nats", url: "tls://example.com?subject=a" },
    "/tokenUrl: Only cloudevents, json, original send a token, by http. Leave it out.",
  ],
  [
    { tokenUrl: "https://c:s@example.com/", headers: "x: 1\n Authorization : Basic a" },
    "/tokenUrl: The token is sent as Authorization, which is in headers, too.",
  ],
  [
    { tokenUrl: "https://example.com/" },
    "/tokenUrl: The URL of the token server must be like https://client:secret@",
  ],
  [{ tokenUrl: "https://c:s@10.0.0.1/" }, "/tokenUrl: 10.0.0.1 is not a public address."],
  [{ tokenUrl: "" }, "/tokenUrl: Write a URL of 1 to 2000 characters, or null for no token"],
  [{ url: "https://10.0.0.1/" }, "/url: "],
  [{ orderBy: "subject" }, "/orderBy: "],
  [{ maxConcurrent: 65 }, "/maxConcurrent: "],
  [{ retryDelays: "soon" }, "/retryDelays: Write a number and a unit: 30s, 15m, 1h or 7d."],
  [{ retryDelays: "2d" }, "/retryDelays: No delay may be longer than 24h"],
  [{ retryDelays: "1s ".repeat(21) }, "/retryDelays: Write at most 20 delays"],
  [{ template: "{" }, "/template: The template is not JSON"],
  [{ template: '{"a": "{data}"}' }, '/template: "{data}" is no value: write a JSON pointer'],
  [{ template: "{}", format: "cloudevents" }, "/template: Only json has a template."],
  [{ batchMaxItems: 5, format: "cloudevents" }, "/batchMaxItems: Only json is sent in batches"],
  [
    { batchMaxItems: 5, transport: "nats", url: "tls://example.com?subject=a" },
    "/batchMaxItems: Only json is sent in batches, by http. Leave it out.",
  ],
  [{ transport: "smtp" }, "/transport: json is sent by http. Leave it out."],
  [{ transport: "nats", format: "slack" }, "/transport: slack is sent by http. Leave it out."],
  [{ format: "original", alerts: true }, "/alerts: An alert has no original."],
])("%j is refused: %s", async (changes, error) => {
  expect((await errorsOf(changes))[0]).toStartWith(error);
});

test("users choose neither transports nor originals", async () => {
  const body = { name: "mine", format: "json", url: "https://example.com/" };
  for (const [changes, pointer] of [
    [{ transport: "redis", url: "rediss://example.com/?stream=a" }, "/transport"],
    [{ format: "original" }, "/format"],
  ] as const) {
    const answer = await rejecting.as("user", "/v1/destinations", post({ ...body, ...changes }));
    expect([answer.status, Object(await json(answer)).errors[0].pointer]).toEqual([422, pointer]);
  }
});

test("a token is sent, its URL is shown without its secret, and another destination does not wait for it", async () => {
  await using tokens = testGateway((number) =>
    number === 1
      ? Response.json({ access_token: "t0ken", token_type: "Bearer", expires_in: 3_600 })
      : never(),
  );
  const tokenUrl = `http://client:s3cret@127.0.0.1:${tokens.port}/token?scope=s3cret`;
  await using made = await withDestination({ tokenUrl });
  const { app, target, shown, change, path } = made;
  const origin = `http://127.0.0.1:${tokens.port}/…`;
  expect(await shown()).toMatchObject({ tokenUrl: origin });
  await deliver(app);
  await until(() => target.received.length === 1);
  expect(target.received[0]?.headers["authorization"]).toBe("Bearer t0ken");
  await change({ maxConcurrent: 2 });
  expect(await shown()).toMatchObject({ tokenUrl: origin });
  const other = { name: "other", format: "json", url: `${target.url}/other` };
  await app.as("admin", "/v1/destinations", post(other));
  // The token is asked for again after a change, from a server that does not answer now.
  await deliver(app);
  await until(() => target.received.length === 2);
  expect([target.received[1]?.path, tokens.received.length]).toEqual(["/notify/other", 2]);
  const conflict = await change({ headers: "authorization: Bearer a" });
  expect([conflict.status, Object(await json(conflict)).errors[0].pointer]).toEqual([
    422,
    "/tokenUrl",
  ]);
  const tested = await json(await app.as("admin", `${path}/test`, { method: "POST" }));
  expect(tested).toMatchObject({
    delivered: false,
    error: expect.stringMatching(/^token server .*: no answer within 5 s$/),
  });
  await change({ tokenUrl: null });
  expect(await shown()).toMatchObject({ tokenUrl: null });
  await app.as("admin", `${path}/test`, { method: "POST" });
  expect(target.received.at(-1)?.headers["authorization"]).toBeUndefined();
  expect(await (await app.as("admin", "/v1/audit")).text()).not.toMatch(/s3cret|t0ken/);
  expect(await (await app.as("admin", "/v1/destinations")).text()).not.toMatch(/s3cret|t0ken/);
});

test("own headers are sent, and only their names are shown", async () => {
  await using made = await withDestination({ headers: "Authorization: Bearer t0ken\nx-team: ops" });
  const { app, target, shown, change, path } = made;
  expect(await shown()).toMatchObject({ headerNames: "authorization, x-team" });
  await change({ maxConcurrent: 2 });
  await deliver(app);
  await until(() => target.received.length === 1);
  expect(target.received[0]?.headers).toMatchObject({
    authorization: "Bearer t0ken",
    "x-team": "ops",
  });
  await change({ headers: "x-team: dev" });
  expect(await (await app.as("admin", "/v1/audit")).text()).not.toContain("t0ken");
  await app.as("admin", `${path}/test`, { method: "POST" });
  const { headers = {} } = target.received[1] ?? {};
  expect([headers["authorization"], headers["x-team"]]).toEqual([undefined, "dev"]);
  await change({ headers: null });
  expect(await shown()).toMatchObject({ headerNames: null });
});

test("a template is the body, and it is signed", async () => {
  const template =
    '{"text": "{/data/title} ({type})", "n": 1, "link": "{/data/none ?? \\"-\\"}", "of": ["{/data/event/provider | upper}"]}';
  await using made = await withDestination({ template });
  await deliver(made.app);
  await until(() => made.target.received.length === 1);
  const [first] = made.target.received;
  expect(JSON.parse(first?.body ?? "")).toEqual({
    text: expect.stringMatching(/.+ \(task_tracker\.task\.completed\)$/),
    n: 1,
    link: "-",
    of: ["TASK_TRACKER"],
  });
  if (first !== undefined) requireSigned(first, made.secret);
});

test("retries follow the schedule of their destination", async () => {
  await using made = await withDestination({ retryDelays: "1s, 2s" }, () => 500);
  await deliver(made.app);
  await untilLater(made.app, async () => (await made.deliveries())[0]?.["status"] === "dead");
  expect(made.target.received).toHaveLength(3);
});

test("a batch has up to its items, and smaller ones after 413", async () => {
  const sizes = (received: readonly Received[]) =>
    received.map(({ body }) => [JSON.parse(body)].flat().length);
  const isTooLarge = ({ body }: Received) => [JSON.parse(body)].flat().length > 2;
  await using made = await withDestination(
    { batchMaxItems: 4, batchMaxWaitMs: 500, state: "active", maxConcurrent: 1 },
    (_, got) => (isTooLarge(got) ? 413 : 200),
  );
  const { app, target, secret, change, deliveries } = made;
  await change({ state: "paused" });
  for (let n = 0; n < 7; n += 1) await deliver(app);
  await change({ state: "active" });
  await untilLater(app, async () =>
    (await deliveries()).every(({ status }) => status === "delivered"),
  );
  // Nothing is lost, each is there once, and one at a time while it is uncertain whether the destination answers.
  expect(sizes(target.received)[0]).toBe(4);
  expect(Math.max(...sizes(target.received).slice(1))).toBeLessThanOrEqual(2);
  const ids = target.received
    .filter((got) => !isTooLarge(got))
    .flatMap(({ body }) => [JSON.parse(body)].flat().map(({ data }) => data.notificationId));
  expect(new Set(ids).size).toBe(7);
  expect(ids).toHaveLength(7);
  for (const got of target.received) requireSigned(got, secret);
});

test.each([302, 400, 413, 500])(
  "of 90 messages in batches, one that is refused with %p takes no other with it",
  async (status) => {
    const tries = new Map<string, number>();
    const received = new Set<string>();
    const target = testGateway((_, { body }) => {
      const titles = itemsOf(JSON.parse(body)).map(({ data }) => String(Object(data).title));
      for (const title of titles) tries.set(title, (tries.get(title) ?? 0) + 1);
      const isRefused = titles.some((title) => title.includes("poison"));
      if (isRefused) return new Response(null, { status });
      for (const title of titles) received.add(title);
      return new Response();
    });
    const batches = { batchMaxItems: 30, batchMaxWaitMs: 500, retryDelays: "1s 1s" };
    await using made = await withDestination({ url: target.url, ...batches, maxConcurrent: 4 });
    const { app, change } = made;
    const health = async () =>
      Object(await json(await app.as("admin", `${made.path}?include=health`))).health;
    await change({ state: "paused" });
    const stored = Array.from({ length: 90 }, (_, n) => {
      const content = n === 45 ? "poison" : `task ${n}`;
      const body = { event_name: "item:added", event_data: { id: `${n}`, content } };
      return app.deliver("task_tracker", JSON.stringify(body));
    });
    await Promise.all(stored);
    await change({ state: "active" });
    await untilLater(app, async () => (await health()).waiting === 0);
    expect(await health()).toMatchObject({ dead: 1 });
    expect(received.size).toBe(89);
    // Once in its batch, once alone.
    const others = [...tries].filter(([title]) => !title.includes("poison"));
    expect(Math.max(...others.map(([, count]) => count))).toBe(2);
    await target.stop();
  },
  60_000,
);

test("a batch that is not full is sent after its longest wait", async () => {
  await using made = await withDestination({ batchMaxItems: 10, batchMaxWaitMs: 400 });
  for (let n = 0; n < 3; n += 1) await deliver(made.app);
  await untilLater(made.app, () => made.target.received.length > 0);
  expect(JSON.parse(made.target.received[0]?.body ?? "")).toHaveLength(3);
});

test("an original is the provider's own request, for its own library, also hours later", async () => {
  await using made = await withDestination({ format: "original" }, (n) => (n === 1 ? 503 : 200));
  const { app, target, secret, deliveries } = made;
  const body =
    '{ "id":"evt_1",\t"type": "invoice.paid", "created": 1, "data": {"object": {"id": "in_1"}} }';
  await app.deliver("payment_processor", body);
  await until(async () => (await deliveries())[0]?.["status"] === "retrying");
  app.clock.advance(3 * hour);
  await untilLater(app, async () => (await deliveries())[0]?.["status"] === "delivered");
  const [first, again] = [target.received[0], target.received.at(-1)];
  if (first === undefined || again === undefined) throw new Error("Nothing arrived");
  for (const got of [first, again]) {
    expect(got.body).toBe(body);
    expect(got.headers["content-type"]).toBe("application/json");
    const [, at = "", mac] =
      /^t=(\d+),v1=([0-9a-f]+)$/.exec(
        got.headers["x-payment-signature"] ?? got.headers["stripe-signature"] ?? "",
      ) ?? [];
    const key = testSecret("payment_processor");
    expect(at).toBe(got.headers["skyhook-webhook-timestamp"] ?? "");
    expect(mac).toBe(createHmac("sha256", key).update(`${at}.${body}`).digest("hex"));
    requireSigned(got, secret, "skyhook-");
    expect(got.headers["webhook-signature"]).toBeUndefined();
  }
  const times = [first, again].map(({ headers }) => Number(headers["skyhook-webhook-timestamp"]));
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual((3 * hour) / second);
  await app.deliverSample("code_host", "workflow_run.completed");
  await until(async () => (await deliveries())[0]?.["status"] === "delivered");
  const { headers = {}, body: sent = "" } = target.received.at(-1) ?? {};
  const signature = headers["x-hub-signature-256"] ?? headers["x-codehost-signature-256"] ?? "";
  expect(await octokitVerify(testSecret("code_host"), sent, signature)).toBe(true);
  expect(Object.keys(headers).some((name) => name.endsWith("-event"))).toBe(true);
});

test("an original that only the service can sign has its signature, and goes once for all its items", async () => {
  await using made = await withDestination({ format: "original" }, () => 200, sendgrid.env);
  const { app, target, deliveries } = made;
  const items = ["one", "another"].map((id) => ({ event: "bounce", sg_event_id: id }));
  const sent = sendgrid.request(app, "sendgrid", { headers: {}, body: Object(items) });
  expect((await app.fetch("/webhooks/sendgrid", sent)).status).toBe(200);
  await until(async () => (await deliveries())[0]?.["status"] === "delivered");
  expect(await deliveries()).toHaveLength(1);
  const [got] = target.received;
  expect(got?.bytes).toEqual(new Uint8Array(sent.body));
  for (const name of ["signature", "timestamp"]) {
    const header = `x-twilio-email-event-webhook-${name}`;
    const own = new Headers(sent.headers).get(header) ?? "";
    expect([name, got?.headers[header]]).toEqual([name, own]);
  }
});

test("an original whose body retention has deleted is a dead letter that says so", async () => {
  await using made = await withDestination({ format: "original" }, () => 503, {
    BODY_RETENTION_DAYS: "1",
  });
  const { app, deliveries } = made;
  await deliver(app);
  await until(async () => (await deliveries())[0]?.["status"] === "retrying");
  await untilLater(app, async () => {
    app.clock.advance(hour);
    return (await deliveries())[0]?.["status"] === "dead";
  });
});

test("an original is sent for what has a stored request, and for nothing else", async () => {
  await using made = await withDestination({ format: "original" }, () => 200, {
    BODY_RETENTION_DAYS: "1",
  });
  const { app, target, deliveries } = made;
  const beside = testGateway();
  const all = { name: "all", format: "json", url: beside.url };
  await app.as("admin", "/v1/destinations", post(all));
  const pay = payer(app);
  const { id: flightId } = await addFlight(app);
  const [booking, paid] = [await holdSeat(app, flightId), { payment: "pi_1" }];
  await pay("payment_intent.succeeded", { booking, amount: 1 });
  await pay("payment_intent.succeeded", { booking, ...paid });
  await pay("payment_intent.succeeded", { booking, payment: "pi_2" });
  await pay("charge.refunded", { booking, ...paid, amount: 99_999 });
  const task = Object(await json(await app.deliverSample("task_tracker", "task.completed"))).id;
  const requests = 5;
  const bookings = await listed(app, "/v1/events?provider=bookings");
  const types = bookings.map(({ type }) => type);
  const problems = ["payment.mismatch", "payment.surplus", "payment.overrefunded"];
  expect(types).toEqual(expect.arrayContaining(["booking.held", "booking.confirmed", ...problems]));
  await untilLater(app, () => beside.received.length === requests + bookings.length);
  await untilLater(app, () => target.received.length >= requests);

  /** Replays an event, and returns how many more the destination beside and this one then received. */
  const replayed = async (id: unknown) => {
    const before = [beside.received.length, target.received.length];
    await app.as("operator", `/v1/events/${String(id)}/replay`, { method: "POST" });
    await untilLater(app, () => beside.received.length > (before[0] ?? 0));
    await untilLater(app, async () =>
      (await deliveries()).every(({ status }) => status === "delivered"),
    );
    return [beside, target].map(({ received }, index) => received.length - (before[index] ?? 0));
  };
  for (const { id } of bookings) expect(await replayed(id)).toEqual([1, 0]);
  expect(await replayed(task)).toEqual([1, 1]);
  app.clock.advance(48 * hour);
  await untilLater(app, async () => {
    app.clock.advance(hour);
    return Object(await json(await app.as("operator", `/v1/events/${task}`))).body === null;
  });
  expect(await replayed(task)).toEqual([1, 0]);
  expect((await deliveries()).map(({ status }) => status)).toEqual(
    Array.from({ length: requests + 1 }, () => "delivered"),
  );
  expect(target.received.map(({ headers }) => headers["skyhook-webhook-id"])).toHaveLength(6);
  await beside.stop();
});

test("what has no original is a dead letter of a destination that is healthy", async () => {
  await using made = await withDestination({ format: "json" });
  const { app, target, path, change, shown, deliveries } = made;
  const { id: flightId } = await addFlight(app);
  await change({ state: "paused" });
  for (let n = 0; n < 6; n += 1) {
    const booking = await holdSeat(app, flightId);
    await app.as("user", `/v1/api/bookings/${booking}`, { method: "DELETE" });
  }
  await deliver(app);
  await change({ format: "original", state: "active" });
  await untilLater(app, async () => (await deliveries()).every(({ dueAt }) => dueAt === null));
  const states = (await deliveries()).map(
    (each) => `${String(each["status"])}: ${String(each["lastError"])}`,
  );
  expect(states.toSorted()).toEqual([
    ...Array.from({ length: 12 }, () => expect.stringContaining("dead: Skyhook made this event")),
    "delivered: null",
  ]);
  expect(await shown()).toMatchObject({ failures: 0, openUntil: null });
  expect(target.received).toHaveLength(1);
  expect(await json(await app.as("admin", `${path}/test`, { method: "POST" }))).toMatchObject({
    delivered: false,
    responseStatus: null,
    error: expect.stringContaining("replay an event of a provider"),
  });
  expect(target.received).toHaveLength(1);
});

test("a destination that fails for DISABLE_AFTER_DAYS is disabled and says why", async () => {
  let status = 500;
  await using made = await withDestination({}, () => status, { DISABLE_AFTER_DAYS: "2" });
  const { app, shown, path, change } = made;
  await deliver(app);
  const state = async () => (await shown()).state;
  let hours = 0;
  await until(async () => {
    app.clock.advance(hour);
    hours += 1;
    await deliver(app);
    await app.as("admin", `${path}/test`, { method: "POST" });
    await untilLater(app, () => true);
    return (await state()) === "disabled";
  });
  expect(hours).toBeGreaterThanOrEqual(47);
  expect(await shown()).toMatchObject({ disabledReason: "the destination failed for 2 days" });
  // A delivery that was waiting may be sent at once.
  status = 200;
  await change({ state: "active" });
  expect(await shown()).toMatchObject({ disabledReason: null, failingSince: null, failures: 0 });
});
