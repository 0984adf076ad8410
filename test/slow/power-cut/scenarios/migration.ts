import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { lazy } from "../../../../src/base/lazy.ts";
import { openStorage } from "../../../../src/db/open.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { databaseIn, deliverTo, startIn } from "../../../support/load.ts";
import { removeFolder, temporaryFolder } from "../../../support/program.ts";
import { makeOlder } from "../../crash/databases.ts";
import type { Claims } from "../claims.ts";
import { Said } from "../facts.ts";
import { factsIn, lost, openedIn, unsound, type Wrong } from "../opened.ts";
import { type Scenario, withGateway } from "../scenario.ts";

/** What an older release has stored, the second event only in its log. */
const events = ["old", "newer"];
const rowsOf = (name: string) => `
  insert into events (id, provider, type, status, idempotency_key, occurred_at, created_at, title,
    data, body_bytes, duplicates)
  values ('evt_${name}', 'task_tracker', 'task.completed', 'accepted', 'task_tracker:${name}', 0, 0, 'Old',
    '{}', 0, 0);
  insert into notifications (id, event_id, created_at, title, text, severity, status, attempt_count)
  values ('ntf_${name}', 'evt_${name}', 0, 'Old', '', 'info', 'pending', 0)`;

/** A server starts on the database of the first release, which was killed. */
export const migration: Scenario = {
  name: "migration",

  async record(recorder) {
    const { root } = recorder;
    makeDatabase(root);
    recorder.begin();
    await withGateway(async (env) => {
      const server = await startIn(root, env, { through: recorder.recorded() });
      try {
        if ((await deliverTo(server, 1)) !== 200) throw new Error(server.log());
        await server.stop();
      } finally {
        await server.kill();
      }
    });
  },

  claims: () => new MigrationClaims(),
};

function makeDatabase(root: string): void {
  const folder = temporaryFolder();
  const file = join(folder, "skyhook.db");
  const [old = "", newer = ""] = events;
  try {
    makeOlder(file, { migrations: 1, sql: rowsOf(old) });
    mkdirSync(join(root, "data"), { mode: 0o700 });
    // An open connection leaves the log as a killed process does.
    using client = new Database(file);
    client.run(rowsOf(newer));
    for (const end of ["", "-wal"]) copyFileSync(file + end, databaseIn(root) + end);
  } finally {
    removeFolder(folder);
  }
}

class MigrationClaims implements Claims {
  readonly #said = new Said(
    events.flatMap((name) => [
      [`event task_tracker:${name}`, `evt_${name}`] as const,
      [`ntf_${name}`, ""] as const,
    ]),
  );
  readonly hear = this.#said.hear.bind(this.#said);

  get count(): number {
    return this.#said.facts.size;
  }

  async wrongIn(folder: string): Promise<Wrong> {
    const found = withoutOpening(databaseIn(folder), schemaIn);
    const { older, newer } = await schemas();
    return [
      ...(found === older || found === newer ? [] : [`the schema is neither: ${found}`]),
      ...(await openedIn(folder, async (client) => [
        ...(schemaIn(client) === newer ? [] : ["the next start does not complete the schema"]),
        ...(await unsound(client)),
        ...lost(this.#said.facts, factsIn(client)),
      ])),
    ];
  }
}

/** The schema before the migration and after it. */
const schemas = lazy(async () => {
  const root = temporaryFolder();
  try {
    makeDatabase(root);
    const older = withoutOpening(databaseIn(root), schemaIn);
    await (await openStorage(schema, `sqlite:${databaseIn(root)}`)).close();
    return { older, newer: withoutOpening(databaseIn(root), schemaIn) };
  } finally {
    removeFolder(root);
  }
});

/** Reads a copy: closing the original would checkpoint its log. */
function withoutOpening<Result>(file: string, read: (client: Database) => Result): Result {
  const copy = `${file}.copy`;
  for (const end of ["", "-wal", "-journal"]) {
    if (existsSync(file + end)) copyFileSync(file + end, copy + end);
  }
  using client = new Database(copy);
  return read(client);
}

/** Every table and index, and the names of the migrations, as text. */
function schemaIn(client: Database): string {
  const rows = [
    ...client.query("select type, name, tbl_name, sql from sqlite_schema order by 1, 2").values(),
    ...client.query("select name from migrations order by 1").values(),
  ];
  return JSON.stringify(rows);
}
