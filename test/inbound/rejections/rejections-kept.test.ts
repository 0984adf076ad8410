import { expect, test } from "bun:test";

import { asc, sql } from "drizzle-orm";

import { makeId } from "../../../src/base/ids.ts";
import { statementsOver, write } from "../../../src/db/statement.ts";
import { rejectionsTable } from "../../../src/inbound/model/rejection.ts";
import { registry } from "../../../src/inbound/providers/registry.ts";
import { insertRejection } from "../../../src/inbound/rejections/rejections.sql.ts";
import { rejections } from "../../../src/inbound/rejections/rejections.ts";
import { rejectionRow } from "../../support/rows.ts";
import { appPerTest } from "../../support/running-app.ts";

// Anyone can cause rejections. Whatever the number of providers, they must not fill the disk.

const stored = statementsOver({ rejections: rejectionsTable })()((db, t) =>
  db
    .select({
      provider: t.rejections.provider,
      bytes:
        sql<number>`octet_length(${t.rejections.body}) + octet_length(cast(${t.rejections.headers} as text)) + octet_length(cast(${t.rejections.signatures} as text))`.mapWith(
          Number,
        ),
    })
    .from(t.rejections)
    .orderBy(asc(t.rejections.createdAt), asc(t.rejections.id)),
);

const app = appPerTest();

const maxKeptBytes = 160_000;

/** Like one of a server that has just started. */
function keeping() {
  const { storage, log } = app.services;
  const kept = rejections({
    storage,
    registry: registry({ providers: () => [], secretsOf: () => null }),
    tests: { count: () => {} },
    reveals: { record: () => Promise.resolve() },
    checkProvider: () => Promise.resolve(),
    log,
    clock: app.clock,
    makeId,
    maxKeptBytes,
  });
  return (provider: string, bodyBytes: number) => {
    app.clock.advance(1);
    const delivery = {
      providerId: provider,
      readBody: () => Promise.resolve(new Uint8Array()),
      method: "POST",
      url: "http://localhost/webhooks/x",
      headers: new Headers({ "x-signature": "no" }),
      address: "192.0.2.1",
      requestId: "one",
    };
    return kept.keep(provider, "wrong-signature", delivery, Buffer.alloc(bodyBytes, "x"));
  };
}

async function storedNow() {
  const rows = await app.services.storage.all(stored, {});
  return { rows, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) };
}

test("rejections of many providers are bounded by bytes, the oldest deleted first", async () => {
  const keep = keeping();
  const names = Array.from({ length: 90 }, (_, index) => `provider_${index}`);
  let most = 0;
  for (const name of names) {
    await keep(name, 5_000);
    most = Math.max(most, (await storedNow()).bytes);
  }
  expect(most).toBeLessThanOrEqual(maxKeptBytes);
  const { rows, bytes } = await storedNow();
  expect(bytes).toBeGreaterThan(maxKeptBytes * 0.85);
  expect(rows.map(({ provider }) => provider)).toEqual(names.slice(-rows.length));
});

test("what an earlier process stored beyond the bound is deleted in parts", async () => {
  const many = Array.from({ length: 3_000 }, (_, index) =>
    write(insertRejection, rejectionRow(index, { body: Buffer.alloc(200, "x"), bodyBytes: 200 })),
  );
  await app.services.storage.atomically(...many);
  const keep = keeping();
  await keep("other", 10);
  expect((await storedNow()).rows).toHaveLength(1_001);
  for (const name of ["one", "two"]) await keep(name, 10);
  const { rows, bytes } = await storedNow();
  expect(bytes).toBeLessThanOrEqual(maxKeptBytes);
  expect(rows.slice(-3).map(({ provider }) => provider)).toEqual(["other", "one", "two"]);
});
