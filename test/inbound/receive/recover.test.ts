import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { positionIn } from "../../../src/base/ids.ts";
import { write } from "../../../src/db/statement.ts";
import { deleteBodies } from "../../../src/events/retention/retention.sql.ts";
import type { LoggedRequest } from "../../../src/inbound/model/webhook-request.ts";
import { signatureHeaders } from "../../../src/inbound/signatures/scheme.ts";
import { sign } from "../../../src/inbound/signatures/sign.ts";
import { json, providerOf, sample, testSecret } from "../../support/app.ts";
import { appPerTest } from "../../support/running-app.ts";
import { forAllAsync, runs } from "../../support/runs.ts";

const app = appPerTest();

/** A delivery of a provider, with the id in a header or in the body. */
interface Sent {
  readonly provider: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

function sent(provider = "code_host", event = "workflow_run.completed"): Sent {
  const { headers, body } = sample(provider, event, app.clock);
  return { provider, headers, body: JSON.stringify(body) };
}

const idHeader = "x-codehost-delivery";
const idOf = ({ headers }: Sent) => new Headers(headers).get(idHeader) ?? "";

async function deliver({ provider, body, headers }: Sent, id?: string) {
  const all = new Headers(headers);
  if (id !== undefined) all.set(idHeader, id);
  return json(await app.deliver(provider, body, { headers: Object.fromEntries(all) }));
}

/** How a log keeps a payload: with the signature of its bytes, or other bytes without a signature. */
type Rendering = "signed" | "reformatted";

function logged({ provider, body, headers }: Sent, rendering: Rendering): LoggedRequest {
  const { signature } = providerOf(provider);
  const other = Buffer.from(JSON.stringify(JSON.parse(body), null, 2));
  const kept = new Headers(headers);
  if (rendering === "signed") {
    const mac = sign(signature, testSecret(provider), Buffer.from(body), app.clock.now());
    kept.set(signatureHeaders(signature)[0] ?? "", mac);
  }
  const bodies =
    rendering === "signed" ? ([other, Buffer.from(body)] as const) : ([other] as const);
  return { providerId: provider, headers: kept, address: "api.example.com", bodies };
}

const recover = (delivery: Sent, rendering: Rendering) =>
  app.services.recover(logged(delivery, rendering));

async function events(limit = 100): Promise<Record<string, unknown>[]> {
  const { data } = await json(await app.as("operator", `/v1/events?limit=${limit}`));
  return Array.isArray(data) ? data : [];
}

const detail = async (id: unknown) => json(await app.as("operator", `/v1/events/${String(id)}`));

const renderings: readonly Rendering[] = ["signed", "reformatted"];

describe.each(renderings)("a delivery from a log, %s,", (rendering) => {
  test("is stored with its notification and marked as recovered", async () => {
    const delivery = sent();
    const answer = await recover(delivery, rendering);
    expect(answer).toMatchObject({
      status: "accepted",
      idempotencyKey: `code_host:${idOf(delivery)}`,
    });
    expect(await events()).toMatchObject([{ id: answer?.id, recovered: true }]);
    const event = await detail(answer?.id);
    expect(event).toMatchObject({
      recovered: true,
      receipt: { address: "api.example.com", signedWith: null, duplicates: 0 },
      notifications: [{}],
    });
    expect(JSON.parse(String(event["body"]))).toEqual(JSON.parse(delivery.body));
    expect(event["body"] === delivery.body).toBe(rendering === "signed");
    const metrics = await (await app.as("operator", "/metrics")).text();
    expect(metrics).toContain(
      'skyhook_webhook_receipts_total{provider="code_host",verdict="recovered"} 1',
    );
  });

  test("is a duplicate if it arrived, and counts as no delivery", async () => {
    const delivery = sent();
    const first = await deliver(delivery);
    expect(await recover(delivery, rendering)).toMatchObject({
      status: "duplicate",
      id: first["id"],
    });
    expect(await detail(first["id"])).toMatchObject({
      recovered: false,
      receipt: { duplicates: 0 },
    });
  });

  test("makes the delivery that comes later a duplicate", async () => {
    const delivery = sent();
    const first = await recover(delivery, rendering);
    expect(await deliver(delivery)).toMatchObject({ status: "duplicate", id: first?.id });
    expect(await detail(first?.id)).toMatchObject({ receipt: { duplicates: 1 } });
    expect(await recover(delivery, rendering)).toMatchObject({
      status: "duplicate",
      id: first?.id,
    });
  });

  test("is still a duplicate after retention deleted the body", async () => {
    const [arrived, missed] = [sent(), sent()];
    const ids = [await deliver(arrived), await recover(missed, rendering)].map(
      (answer) => `evt_${String(answer?.["id"]).slice(4)}` as const,
    );
    await app.services.storage.atomically(
      ...ids.map((id) => write(deleteBodies, { positions: [positionIn(id)] })),
    );
    expect(await recover(arrived, rendering)).toMatchObject({ status: "duplicate", id: ids[0] });
    expect(await deliver(missed)).toMatchObject({ status: "duplicate", id: ids[1] });
  });
});

test("is identified by the id in its signed body, whatever its bytes", async () => {
  const [arrived, missed] = [
    sent("payment_processor", "invoice.paid"),
    sent("payment_processor", "invoice.paid"),
  ];
  const first = await deliver(arrived);
  expect(await recover(arrived, "reformatted")).toMatchObject({
    status: "duplicate",
    id: first["id"],
  });
  const recovered = await recover(missed, "reformatted");
  expect(await deliver(missed)).toMatchObject({ status: "duplicate", id: recovered?.id });
  expect(await events()).toHaveLength(2);
});

test("stores nothing for an event that the provider does not list, or that cannot be parsed", async () => {
  const ping = { ...sent(), body: `{"zen":"Keep it logically awesome.","hook_id":1}` };
  expect(await recover(ping, "signed")).toBeNull();
  const { headers } = logged(ping, "signed");
  const bodies = [Buffer.from("not JSON")] as const;
  const broken = { providerId: "code_host", headers, address: "", bodies };
  expect(await app.services.recover(broken)).toBeNull();
  expect(await events()).toEqual([]);
});

/** What happens to one delivery: it arrives, it is read from the log, or its body is sent with another id. */
const anyStep = fc.record({
  of: fc.nat(),
  kind: fc.constantFrom("arrives", "arrives", "is in the log", "is captured"),
  otherId: fc.nat(),
});
const anyHistory = fc.record({
  count: fc.integer({ min: 1, max: 5 }),
  steps: fc.array(anyStep, { minLength: 1, maxLength: 24 }),
  isAtOnce: fc.boolean(),
});

type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

/** The id of a captured delivery: a new one, or that of any delivery. Null for other steps. */
function forgedId({ kind, otherId }: Step, all: readonly Sent[]): string | null {
  if (kind !== "is captured") return null;
  const other = all[otherId % (all.length + 1)];
  return other === undefined ? crypto.randomUUID() : idOf(other);
}

describe.each(renderings)("with a log whose payloads are %s", (rendering) => {
  test("every delivery is stored once, in any order of arrival, recovery and forgery", async () => {
    await forAllAsync(runs(100), [anyHistory], async ({ count, steps, isAtOnce }) => {
      const all = Array.from({ length: count }, () => sent());
      const pick = (number: number): Sent => all[number % count] ?? sent();
      const take = (step: Step): Promise<unknown> => {
        const delivery = pick(step.of);
        if (step.kind === "is in the log") return recover(delivery, rendering);
        return deliver(delivery, forgedId(step, all) ?? undefined);
      };
      if (isAtOnce) await Promise.all(steps.map(take));
      else for (const step of steps) await take(step);
      // In the end, the log is read to its end.
      for (const delivery of all) await recover(delivery, rendering);

      const kept = await Promise.all((await events(4 * count)).map(({ id }) => detail(id)));
      for (const [index, { body }] of all.entries()) {
        const own = kept.filter((event) =>
          Bun.deepEquals(JSON.parse(String(event["body"])), JSON.parse(body)),
        );
        // Bytes that the log does not have can be sent once more with another id (record 20).
        const isForged = steps.some(
          (step) =>
            step.kind === "is captured" &&
            step.of % count === index &&
            forgedId(step, all) !== idOf(pick(index)),
        );
        const most = rendering === "reformatted" && isForged ? 2 : 1;
        expect(own.length).toBeWithin(1, most + 1);
        for (const event of own) expect(event["notifications"]).toHaveLength(1);
      }
    });
  });
});
