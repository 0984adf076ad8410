import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";

import { openStorage } from "../../../src/db/open.ts";
import { write } from "../../../src/db/statement.ts";
import type { Storage } from "../../../src/db/storage.ts";
import { insertEvent, receiptAt } from "../../../src/event/events.sql.ts";
import { schema } from "../../../src/schema/schema.ts";
import { failure } from "../../support/failure.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { eventRow } from "../../support/rows.ts";

const mark = (length: number) => {
  const head = Buffer.from("502a4d180400000000000000", "hex");
  head.writeUInt32LE(length, 8);
  return head;
};
const json = Buffer.from(
  JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: "é" }))),
);

const packed = (length: number, value: Buffer) =>
  Buffer.concat([mark(length), Bun.zstdCompressSync(new Uint8Array(value))]);

describe("a body in SQLite", () => {
  const folder = temporaryFolder();
  const file = join(folder, "skyhook.db");
  let storage: Storage;
  let number = 0;
  beforeAll(async () => {
    storage = await openStorage(schema, `sqlite:${file}`);
  });
  afterAll(async () => {
    await storage.close();
    removeFolder(folder);
  });

  const bodyOf = async (id: number) => (await storage.all(receiptAt, eventRow(id).place))[0]?.body;
  const direct = <Result>(act: (client: Database) => Result): Result => {
    using client = new Database(file);
    return act(client);
  };
  const storedOf = (id: number): Buffer =>
    Buffer.from(
      direct((client) =>
        client
          .query<{ body: Uint8Array }, [number]>("select body from events where position = ?")
          .get(eventRow(id).place.position),
      )?.body ?? [],
    );

  test.each([
    ["nothing", Buffer.alloc(0), "itself"],
    ["255 bytes", json.subarray(0, 255), "itself"],
    ["JSON", json, "compressed"],
    ["random bytes", randomBytes(1_500), "itself"],
    ["256 KiB", Buffer.alloc(256 * 1_024, json), "compressed"],
    ["more", Buffer.alloc(256 * 1_024 + 1, json), "itself"],
    ["a mark", mark(7), "marked"],
    ["a mark and JSON", Buffer.concat([mark(0), json]), "marked"],
    ["what is stored for JSON", packed(json.length, json), "marked"],
    ["compressed JSON", Bun.zstdCompressSync(json), "itself"],
  ])("of %s is read as it was sent", async (_, body, as) => {
    number += 1;
    await storage.atomically(write(insertEvent, eventRow(number, { body })));
    expect(Buffer.compare((await bodyOf(number)) ?? Buffer.alloc(1), body)).toBe(0);
    const stored = storedOf(number);
    if (as === "compressed") {
      expect(stored.length).toBeLessThan(body.length / 2);
      // Other programs can read it too.
      expect(Buffer.compare(Bun.zstdDecompressSync(Uint8Array.from(stored)), body)).toBe(0);
    } else expect(stored).toEqual(as === "itself" ? body : Buffer.concat([mark(0), body]));
  });

  test.each([
    ["an earlier version has stored is read as it is", json, json],
    ["is a bomb is damaged", packed(50 * 2 ** 20, Buffer.alloc(50 * 2 ** 20)), null],
    ["is two values is damaged", Buffer.concat([packed(3, json), packed(0, json)]), null],
    ["is cut short is damaged", packed(json.length, json).subarray(0, -9), null],
  ])("that %s", async (_, stored, body) => {
    number += 1;
    await storage.atomically(write(insertEvent, eventRow(number)));
    direct((client) =>
      client.run("update events set body = ? where position = ?", [
        stored,
        eventRow(number).place.position,
      ]),
    );
    if (body !== null) expect(Buffer.from((await bodyOf(number)) ?? [])).toEqual(body);
    else expect(await failure(bodyOf(number))).toMatchObject({ code: "unavailable" });
  });

  test("is on a page of 8 KiB", () => {
    expect(direct((client) => client.query("pragma page_size").values())).toEqual([[8_192]]);
  });
});
