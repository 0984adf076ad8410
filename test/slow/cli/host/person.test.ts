import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { everything } from "../../../support/cli.ts";
import { csvOf } from "../../../support/flights-csv.ts";
import { bookingBody, passenger, post } from "../../../support/flights.ts";
import { runSkyhook } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";

const taken = resources();

const email = "ada.canary@example.com";
const flights = csvOf([{ flightNumber: "SK1", seats: 500 }]);
/** The files of a folder that contain one of these. */
function filesWith(folder: string, canaries: readonly (string | Uint8Array)[]): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => {
      const bytes = readFileSync(join(folder, name));
      return canaries.some((canary) => bytes.includes(canary));
    });
}

describe("skyhook person", () => {
  test("exports and erases beside a server, and leaves nothing in its files once that has stopped", async () => {
    const cwd = taken.newFolder();
    const server = await taken.serve({ cwd, env: everything });
    const beside = (...args: string[]) => runSkyhook(args, server);
    writeFileSync(join(cwd, "flights.csv"), flights);
    await beside("import", "flights.csv");
    const token = async (of: string, name: string) =>
      (await beside("token", "--email", of, "--name", name)).out.trim();
    const call = async (path: string, bearer: string, init: RequestInit) => {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${bearer}`);
      return fetch(`${server.url}${path}`, { ...init, headers });
    };
    const book = async (bearer: string, of: object) => {
      const body = { ...bookingBody(1), passengers: [{ ...passenger(), ...of }], ...of };
      const made = await call(
        "/v1/api/bookings",
        bearer,
        post({ ...body, contactEmail: "email" in of ? of.email : "" }),
      );
      expect(made.status).toBe(201);
      const { bookingId, reference }: { bookingId: string; reference: string } = JSON.parse(
        await made.text(),
      );
      return { bookingId, reference };
    };
    const [ada, bo] = [await token(email, "Ada Canaryson"), await token("bo@example.com", "Bo")];
    const mine = { firstName: "Ada", lastName: "Canaryson", email };
    const made: string[] = [];
    let reference = "";
    // Between others, so that their pages are split and copied.
    for (let number = 0; number < 120; number += 1) {
      await book(bo, { email: `bo${number}@example.com` });
      if (number % 4 !== 0) continue;
      const own = await book(ada, mine);
      made.push(own.bookingId);
      ({ reference } = own);
    }
    const data = join(cwd, "data");
    const stored = () => {
      using database = new Database(join(data, "skyhook.db"), { readonly: true });
      const select = `select sealed from passengers where email = '${email}'`;
      return database
        .query(select)
        .values()
        .map(([bytes]) => bytes as Uint8Array);
    };
    const canaries = [email, "Canaryson", ...stored()];
    expect(canaries).toHaveLength(32);
    expect(filesWith(data, canaries)).not.toEqual([]);

    const exported = await beside("person", "export", email);
    expect(exported.err).toMatch(/^access recorded for /m);
    const { data: rows } = JSON.parse(exported.out) as { data: Record<string, unknown[]> };
    expect([rows["bookings"]?.length, rows["passengers"]?.length]).toEqual([30, 30]);
    expect(exported.out).toContain('"passportNumber": "X0000001"');

    expect(await beside("person", "erase", email)).toMatchObject({ code: 2 });
    const open = await beside("person", "erase", email, "--yes");
    expect(open.code).toBe(1);
    expect(open.err).toMatch(
      /^skyhook: Open bookings: ([A-Z]{6} \(departs [-:.\dTZ]+\)(, )?){30}\. Cancel them first/m,
    );
    for (const id of made) await call(`/v1/api/bookings/${id}`, ada, { method: "DELETE" });
    const erased = await beside("person", "erase", email, "--yes");
    expect(erased.out).toMatch(/^bookings +30$/m);
    expect(erased.err).toContain(`A server uses the database (process ${server.pid}): stop it`);
    // Rows are gone, but not from the pages of the file.
    expect(filesWith(data, canaries)).not.toEqual([]);
    expect(await beside("person", "vacuum")).toMatchObject({ code: 1 });
    // A second erasure, or a misspelt address, finds nobody and changes nothing.
    const unknown = await beside("person", "erase", email, "--yes");
    expect(unknown).toMatchObject({ code: 1, out: "" });
    expect(unknown.err).toBe("skyhook: Nothing is stored about this person\n");
    // The server goes on.
    const after = await book(bo, { email: "bo@example.com" });
    expect(after.reference).not.toBe(reference);
    expect(await server.stop()).toBe(0);
    const vacuumed = await beside("person", "vacuum");
    expect(vacuumed.err).toContain("rewriting the database file");
    expect(filesWith(data, canaries)).toEqual([]);
    expect(await beside("backup", "copy.db")).toMatchObject({ code: 0 });
    expect(filesWith(cwd, canaries)).toEqual([]);
  });
});
