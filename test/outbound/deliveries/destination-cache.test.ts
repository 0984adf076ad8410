import { beforeEach, expect, test } from "bun:test";

import type { Context } from "../../../src/base/context.ts";
import { write } from "../../../src/db/statement.ts";
import {
  type DestinationCache,
  destinationCache,
} from "../../../src/outbound/deliveries/destination-cache.ts";
import {
  destinationById,
  recordFailure,
  updateDestination,
} from "../../../src/outbound/model/destinations.sql.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { type TestApp, until } from "../../support/app.ts";
import { valueOf } from "../../support/exposition.ts";
import { contextOf } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { eventRow } from "../../support/rows.ts";

const taken = resources();

const admin = contextOf("root", "admin");
const bob = contextOf("bob", "user");
const url = "http://127.0.0.1:1099/";
const filter = 'event.type == "task.completed"';

let app: TestApp;
let known: DestinationCache;
let logged: () => string;
beforeEach(async () => {
  const { logFd: fd, text } = taken.log();
  app = await taken.app({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  logged = text;
  known = destinationCache({
    storage: app.services.storage,
    log: createLog({ level: "error", format: "json", fd }),
    clock: app.clock,
    privateAllowed: "true",
    resolve: () => Promise.resolve([]),
    platform: {},
    keys: () => [Buffer.alloc(32, 7)],
    originalOf: () => Promise.reject(new Error("no original")),
  });
});

async function create(ctx: Context, name: string) {
  const input = { name, format: "json", url, filter };
  return (await app.services.destinations.create(ctx, input)).made;
}

const matches = (ownerId: string | null) =>
  known
    .matching(
      eventRow(1),
      { title: "", text: "", url: null, severity: "info" },
      { ownerId, alert: false },
    )
    .map(({ destination }) => destination.name);

test.each([
  ["all are read again", () => known.refresh()],
  ["only that one is", (id: `dst_${string}`) => known.refresh(id)],
] as const)(
  "a change of one destination does not rebuild the others when %s",
  async (_, refresh) => {
    const [first, second] = [await create(admin, "first"), await create(admin, "second")];
    await known.refresh();
    const before = { first: known.find(first.id), second: known.find(second.id) };
    expect(before.first?.filter("task_tracker")).toBeDefined();
    await app.services.destinations.update(admin, second.id, { filter: "false" });
    expect([...(await refresh(second.id))]).toEqual([second.id]);
    expect(known.find(first.id)).toBe(before.first);
    expect(known.find(second.id)).not.toBe(before.second);
    expect(matches(null)).toEqual(["first"]);
  },
);

/** Replaces the stored filter of a destination with an invalid one. An attempt to compile it is logged. */
async function breakFilter(id: `dst_${string}`): Promise<void> {
  const { storage } = app.services;
  const [stored] = await storage.all(destinationById, { id });
  if (stored === undefined) throw new Error("Not stored");
  const broken = { ...stored, filter: "((", before: stored.updatedAt };
  await storage.atomically(write(updateDestination, broken));
}

test("the filter of a user's destination is compiled for events of that user only", async () => {
  const { id } = await create(bob, "of-bob");
  const { id: others } = await create(contextOf("carol", "user"), "of-carol");
  for (const each of [id, others]) await breakFilter(each);
  await known.refresh();
  expect([matches(null), matches("ada")]).toEqual([[], []]);
  expect(matches("bob")).toEqual(["of-bob"]);
  await until(() => logged().includes(id));
  expect(logged()).toContain("filter is invalid; delivering all events");
  // An earlier attempt would be in the log.
  expect(logged()).not.toContain(others);
  expect(logged()).not.toContain("of-bob");
});

test("destinations that another instance created, changed or removed are noticed", async () => {
  const [kept, gone] = [await create(admin, "kept"), await create(bob, "gone")];
  expect(await known.refresh()).toEqual(new Set([kept.id, gone.id]));
  expect(await known.refresh()).toEqual(new Set());
  expect(matches("bob")).toEqual(["kept", "gone"]);
  await app.services.destinations.remove(bob, gone.id);
  const added = await create(bob, "added");
  await app.services.storage.atomically(
    write(recordFailure, { id: kept.id, now: new Date(1), openUntil: new Date(1), threshold: 1 }),
  );
  expect(await known.refresh()).toEqual(new Set([gone.id, added.id, kept.id]));
  expect(matches("bob")).toEqual(["kept", "added"]);
  expect(known.find(gone.id)).toBeUndefined();
  expect(known.find(kept.id)?.destination).toMatchObject({ failures: 1, openUntil: new Date(1) });
});

test("of refreshes at the same time, the latest state wins", async () => {
  const { id } = await create(admin, "busy");
  for (let round = 1; round <= 20; round += 1) {
    const changing = app.services.destinations.update(admin, id, { maxConcurrent: round });
    const refreshes = [known.refresh(id), known.refresh()];
    await changing;
    await Promise.all([...refreshes, known.refresh(id)]);
    expect(known.find(id)?.destination.maxConcurrent).toBe(round);
  }
});

test("a change wakes no other destination", async () => {
  const others = await Promise.all(
    Array.from({ length: 20 }, (_, number) => create(admin, `other-${number}`)),
  );
  const written = async () => {
    // Commits after what was woken before.
    await app.services.storage.atomically();
    const text = await (await app.fetch("/metrics")).text();
    return valueOf(text, "skyhook_storage_commit_transactions_sum");
  };
  const before = await written();
  await app.services.destinations.update(admin, others[0]?.id ?? "", { filter: "false" });
  const transactions = (await written()) - before;
  // The change itself, and one query for deliveries of this destination.
  expect(transactions).toBeGreaterThanOrEqual(2);
  expect(transactions).toBeLessThan(10);
});
