import { describe, expect, test } from "bun:test";
import { chmodSync, renameSync } from "node:fs";

import { openStorage } from "../../../../src/db/open.ts";
import { write } from "../../../../src/db/statement.ts";
import { eventById } from "../../../../src/event/event.sql.ts";
import { insertEvent } from "../../../../src/event/events.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { until } from "../../../support/app.ts";
import { authority, certificateFor, noCertificates } from "../../../support/certificates.ts";
import { failure } from "../../../support/failure.ts";
import { noOwnPostgres, type OwnPostgres } from "../../../support/own-postgres.ts";
import { resources } from "../../../support/resources.ts";
import { eventRow } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

const taken = resources();
const missing = noOwnPostgres ?? noCertificates;
const limits = { poolSize: 2, connectTimeoutMs: 10_000, statementTimeoutMs: 10_000, retryMs: 0 };

describe.skipIf(skips(missing))("postgres: TLS", () => {
  test("verify-full accepts a server certificate of its CA, and says why it rejects any other", async () => {
    const { database, folder } = await start();
    const open = async (parameters: string, host = "localhost") => {
      const url = new URL(database.url);
      url.hostname = host;
      url.search = parameters;
      try {
        await (await openStorage(schema, url.href, limits)).close();
        return "opened";
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    expect(await open("sslmode=require")).toContain("does not support TLS: turn its ssl on");
    const ca = await authority(folder, "ca");
    const other = await authority(folder, "other");
    await database.useCertificate(await certificateFor(folder, "localhost", ca));
    const trusting = `sslmode=verify-full&sslrootcert=${ca.certificate}`;
    expect(await open(trusting)).toBe("opened");
    expect(await open("sslmode=require")).toBe("opened");
    const advice = "set sslrootcert=<file> to its CA";
    expect(await open("sslmode=verify-full")).toContain(advice);
    expect(await open(`sslmode=verify-full&sslrootcert=${other.certificate}`)).toContain(advice);
    expect(await open(trusting, "127.0.0.1")).toContain(advice);
  }, 60_000);

  test("an untrusted certificate or a missing CA file is `unavailable` until it is restored [PG-10]", async () => {
    const { database, folder } = await start();
    const ca = await authority(folder, "ca");
    const good = await certificateFor(folder, "localhost", ca);
    await database.useCertificate(good);
    const url = new URL(database.url);
    url.hostname = "localhost";
    url.search = `sslmode=verify-full&sslrootcert=${ca.certificate}`;
    const storage = await openStorage(schema, url.href, limits);
    const stored = eventRow(1);
    await storage.atomically(write(insertEvent, stored));

    await database.useCertificate(await authority(folder, "other"));
    // Open connections survive until the server restarts.
    await database.crash();
    await database.start();
    const read = () => storage.all(eventById, { id: stored.id });
    const refused = async (asked: Promise<unknown>) => {
      const error = await failure(asked);
      expect(error).toMatchObject({ code: "unavailable" });
      return error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
    };
    await until(async () => (await refused(read())).includes("certificate"), 10_000);
    await until(async () => (await refused(storage.atomically())).includes("certificate"), 10_000);

    await database.useCertificate(good);
    expect(await read()).toHaveLength(1);
    await storage.atomically();

    renameSync(ca.certificate, `${ca.certificate}.away`);
    await database.crash();
    await database.start();
    await until(async () => (await refused(read())).includes("caFile"), 10_000);
    renameSync(`${ca.certificate}.away`, ca.certificate);
    expect(await read()).toHaveLength(1);
    await storage.close();
  }, 60_000);
});

/** Starts a server without TLS. Certificates go to `folder`. */
async function start(): Promise<{ database: OwnPostgres; folder: string }> {
  const database = await taken.ownPostgres();
  const folder = taken.newFolder();
  chmodSync(folder, 0o755);
  return { database, folder };
}
