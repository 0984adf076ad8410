import { describe, expect, test } from "bun:test";

import { beginCopy, endCopy } from "../../../../src/cli/host/copy-tables.ts";
import { openCopyTarget, openStorage } from "../../../../src/db/open.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { noManyConnections } from "../../../support/databases.ts";
import { refusal } from "../../../support/failure.ts";
import { skips } from "../../../support/skips.ts";

import { limits, sharedDatabase } from "./shared-database.ts";

const shared = sharedDatabase();

describe("postgres: a failed start says why in one line, without the password", () => {
  const open = async (url: string) => {
    const message = await refusal(openStorage(schema, url, { ...limits, connectTimeoutMs: 1_000 }));
    expect(message).not.toBe("");
    expect(message).not.toContain("hunter2");
    expect(message).not.toContain("\n");
    return message;
  };
  const at = (change: (url: URL) => void) => {
    const url = new URL(shared.url);
    change(url);
    return url.href;
  };

  test("when no server answers", async () => {
    expect(await open("postgres://sky:hunter2@127.0.0.1:1/skyhook")).toBe(
      "The PostgreSQL server at 127.0.0.1:1 does not answer (Failed to connect): start it, or check host and port in DATABASE_URL",
    );
  });

  test.skipIf(skips(noManyConnections))("when transactions are isolated otherwise", async () => {
    const name = "default_transaction_isolation";
    const url = at(({ searchParams }) => searchParams.set(name, "repeatable read"));
    expect(await open(url)).toContain(`its ${name} is repeatable read: set it to read committed`);
  });

  test.skipIf(skips(noManyConnections))("when synchronous_commit is off", async () => {
    const url = at(({ searchParams }) => searchParams.set("synchronous_commit", "off"));
    expect(await open(url)).toContain("its synchronous_commit is off");
  });

  test.skipIf(skips(noManyConnections))("when the database cannot store all texts", async () => {
    const name = `skyhook_latin_${process.pid}`;
    await shared.run(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
    try {
      expect(await open(at((url) => (url.pathname = `/${name}`)))).toContain(
        "its encoding is LATIN1, which cannot store all texts of webhooks",
      );
    } finally {
      await shared.run(`drop database ${name} with (force)`);
    }
  });

  test("when the database is newer than the program", async () => {
    await (await shared.openEmpty()).close();
    await shared.run("insert into migrations (name) values ('9.9.0 from the future')");
    // PGlite keeps prepared statements across connections.
    await shared.empty();
    expect(await open(shared.url)).toBe(
      "The database is newer than this program (0.1.0): skyhook 9.9.0 migrated it. Start that version or a later one, or restore the backup from before that upgrade",
    );
    await shared.run("delete from migrations where name like '9.9.0%'");
    await shared.empty();
  });

  test("when a copy into the database is unfinished; another copy can still open it", async () => {
    await (await shared.openEmpty()).close();
    await shared.renew();
    const begun = await openCopyTarget(schema, shared.url, limits);
    await beginCopy(begun, "it");
    await begun.close();
    await shared.empty();
    expect(await open(shared.url)).toBe(
      "A copy into this database was not finished: run `bun skyhook copy` again, or empty it",
    );
    await shared.renew();
    const ended = await openCopyTarget(schema, shared.url, limits);
    await endCopy(ended);
    await ended.close();
    await (await shared.openEmpty()).close();
  });

  test.skipIf(skips(noManyConnections))("when the database or role does not exist", async () => {
    const noDatabase = await open(at((url) => (url.pathname = "/skyhook_missing")));
    expect(noDatabase).toContain('has no database "skyhook_missing": create it with createdb');
    const noRole = await open(
      at((url) => {
        url.username = "skyhook_missing";
        url.password = "hunter2";
      }),
    );
    expect(noRole).toContain('rejects the role "skyhook_missing"');
  });
});
