import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import { json, providerOf, sample, signed } from "../../support/app.ts";
import { appPerTest } from "../../support/running-app.ts";
import { forAllAsync, runs } from "../../support/runs.ts";

const app = appPerTest();

type Headers = Readonly<Record<string, string>>;

async function send(provider: string, body: string, headers: Headers) {
  const response = await app.deliver(provider, body, { headers });
  return { status: response.status, answer: await json(response) };
}

/** All stored events of a provider, with body and notifications. */
async function stored(provider: string): Promise<Record<string, unknown>[]> {
  const path = `/v1/events?provider=${provider}&limit=100`;
  const { data } = await json(await app.as("operator", path));
  const events: { id: string }[] = Array.isArray(data) ? data : [];
  return Promise.all(
    events.map(async ({ id }) => json(await app.as("operator", `/v1/events/${id}`))),
  );
}

const form = { "content-type": "application/x-www-form-urlencoded" };
const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");
const run = () => {
  const { headers, body } = sample("code_host", "workflow_run.completed", app.clock);
  return { headers, body: JSON.stringify(body) };
};

describe("a captured body sent first with other headers", () => {
  test("with an id that looks like the key of another body does not take that key", async () => {
    const captured = `{"event_name":"item:deleted"}`;
    const genuine = `{"event_name":"item:completed"}`;
    const id = `sha256:${sha256(genuine)}`;
    await send("task_tracker", captured, { "x-tasktracker-delivery-id": id });
    const { answer } = await send("task_tracker", genuine, {});
    expect(answer).toMatchObject({
      status: "accepted",
      event: "task.completed",
      idempotencyKey: `task_tracker:${id}`,
    });
  });

  test("with the id of a future delivery does not suppress that delivery [API10-3]", async () => {
    const captured = run();
    const next = run();
    const first = await send("code_host", captured.body, next.headers);
    const { answer } = await send("code_host", next.body, next.headers);
    expect(answer).toMatchObject({
      status: "accepted",
      idempotencyKey: `code_host:sha256:${sha256(next.body)}`,
    });
    expect(answer["id"]).not.toBe(first.answer["id"]);
    for (const { headers, body } of [captured, next]) {
      const again = await send("code_host", body, headers);
      const { id } = body === next.body ? answer : first.answer;
      expect(again.answer).toMatchObject({ status: "duplicate", id });
    }
  });

  test("with white space inside tokens, which the signature does not cover, is parsed without it", async () => {
    const genuine = `{"type":"inbound","emitted_at":1763716364,"conversation":{"id":"cnv_1"}}`;
    const first = await app.fetch("/webhooks/shared_inbox", {
      ...signed("shared_inbox", genuine, app.clock),
      body: genuine.replace("1763716364", "17637 16364"),
    });
    expect(await json(first)).toMatchObject({ status: "accepted", event: "message.received" });
    const { answer } = await send("shared_inbox", genuine, {});
    expect(answer).toMatchObject({ status: "duplicate", event: "message.received" });
    const [event] = await stored("shared_inbox");
    const replay = `/v1/events/${String(event?.["id"])}/replay`;
    const after = await json(await app.as("operator", replay, { method: "POST" }));
    expect(after).toMatchObject({ status: "accepted", occurredAt: "2025-11-21T09:12:44.000Z" });
  });
});

/** A delivery as its provider sends it, with the expected event. */
interface Genuine {
  readonly body: string;
  readonly headers: Headers;
  readonly status: "accepted" | "ignored" | "unreadable";
  /** Null if only an unsigned header could name the type, which is then not compared. */
  readonly type: string | null;
}

/** Each listed event as the service sends it and, without an id, under Skyhook's name; plus unlisted events. */
function genuineOf(provider: string): readonly Genuine[] {
  const types = Object.keys(providerOf(provider).samples);
  const note = () => crypto.randomUUID();
  const native = types.map((type): Genuine => {
    const { headers, body } = sample(provider, type, app.clock);
    return { headers, body: JSON.stringify(body), status: "accepted", type };
  });
  const named = types.map((type): Genuine => {
    return { headers: {}, body: JSON.stringify({ type, note: note() }), status: "accepted", type };
  });
  const ignored = [
    { zen: note(), hook_id: 1, type: "ping" },
    { action: "completed", check_run: { id: note() }, sender: {} },
    { action: "published", security_advisory: { id: note() } },
  ].map((body): Genuine => {
    const type = "zen" in body && provider !== "task_tracker" ? "ping" : null;
    return { headers: {}, body: JSON.stringify(body), status: "ignored", type };
  });
  const forms = provider === "code_host" ? native.map(asForm) : [];
  const unreadable = { headers: {}, status: "unreadable", type: "unreadable" } as const;
  return [...native, ...named, ...ignored, ...forms, { ...unreadable, body: `not JSON ${note()}` }];
}

const withFreshIds = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      /delivery/i.test(name) ? crypto.randomUUID() : value,
    ]),
  );

/** The same JSON as a form, with one more space so that the bytes differ. */
function asForm({ body, headers, ...rest }: Genuine): Genuine {
  const text = `payload=${encodeURIComponent(`${body} `)}`;
  return { ...rest, body: text, headers: { ...withFreshIds(headers), ...form } };
}

/** The unsigned headers that the program reads, of all providers. */
const idHeaders = [
  "x-tasktracker-delivery-id",
  "x-todoist-delivery-id",
  "x-codehost-delivery",
  "x-github-delivery",
];
const eventHeaders = ["x-codehost-event", "x-github-event"];
const events = ["push", "ping", "issues", "package", "workflow_run", "package.published", ""];
const contentTypes = ["text/plain", "application/json; charset=utf-16", form["content-type"]];

/** A captured delivery that is sent again with other headers. */
const anyCapture = fc.record({
  of: fc.nat(),
  headers: fc.record(
    {
      ...Object.fromEntries(eventHeaders.map((name) => [name, fc.constantFrom(...events)])),
      "content-type": fc.constantFrom(...contentTypes),
      "x-front-request-timestamp": fc.constantFrom("0", "soon"),
    },
    { requiredKeys: [] },
  ),
  idHeader: fc.constantFrom(...idHeaders),
  /** The id of another delivery, the hash of another body, a new id, or none. */
  id: fc.record({ of: fc.nat(), kind: fc.constantFrom("id", "hash", "new", "none") }),
});
type Capture = typeof anyCapture extends fc.Arbitrary<infer T> ? T : never;

/** Captures, with sort keys that put genuine and captured deliveries in random order. */
const anyAttack = fc.record({
  captures: fc.array(anyCapture, { minLength: 1, maxLength: 16 }),
  order: fc.infiniteStream(fc.nat(1_000)),
  isAtOnce: fc.boolean(),
});

function hostile(genuine: readonly Genuine[], { of, headers, idHeader, id }: Capture) {
  const pick = (number: number) => genuine[number % genuine.length];
  const other = pick(id.of);
  const otherId = Object.entries(other?.headers ?? {}).find(([name]) => /delivery/i.test(name));
  const ids: Record<string, string | undefined> = {
    id: otherId?.[1],
    hash: `sha256:${sha256(other?.body ?? "")}`,
    new: crypto.randomUUID(),
  };
  const sent = ids[id.kind];
  return {
    body: pick(of)?.body ?? "",
    headers: { ...headers, ...(sent === undefined ? {} : { [idHeader]: sent }) },
  };
}

test.each(catalogue.map(({ id }) => id))(
  "with captured deliveries sent before, between and during them each genuine delivery of %s is stored once with its true status and type",
  async (provider) => {
    await forAllAsync(runs(12), [anyAttack], async ({ captures, order, isAtOnce }) => {
      await app.restart();
      const genuine = genuineOf(provider);
      const attacks = captures.map((capture) => hostile(genuine, capture));
      const all = [...genuine, ...attacks]
        .map((delivery) => ({ delivery, at: order.next().value }))
        .toSorted((one, other) => one.at - other.at);
      const deliver = ({ delivery: { body, headers } }: (typeof all)[number]) =>
        send(provider, body, headers);
      if (isAtOnce) await Promise.all(all.map(deliver));
      else for (const one of all) await deliver(one);

      const kept = await stored(provider);
      for (const { body, headers, status, type } of genuine) {
        const own = kept.filter((event) => event["body"] === body);
        const notifications = status === "accepted" ? [{}] : [];
        const typed = type === null ? {} : { type };
        expect(own).toMatchObject([{ ...typed, status, notifications }]);
        expect(own[0]?.["notifications"]).toHaveLength(notifications.length);
        const again = await send(provider, body, headers);
        if (status === "unreadable") expect(again.status).toBe(400);
        else expect(again.answer).toMatchObject({ status: "duplicate", id: own[0]?.["id"] });
      }
      expect(kept).toHaveLength(genuine.length);
    });
  },
);
