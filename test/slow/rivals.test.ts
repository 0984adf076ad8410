import { afterAll, describe, expect, test } from "bun:test";

import { at, itemsAt } from "../../src/base/payload.ts";
import { noManyConnections, postgresDatabase } from "../support/databases.ts";
import { removeFolder, runSkyhook, startServer, temporaryFolder } from "../support/program.ts";
import { skips } from "../support/skips.ts";

const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

const seats = 500;
const processes = 4;
const attemptsEach = 175;
const rivalsEach = 25;

/** What each rival process runs: so many bookings, so many of them under way at once. */
const rival = `
  const [url, token, me] = process.argv.slice(1);
  const counts = {};
  let next = 0;
  const one = async () => {
    while (next < ${attemptsEach}) {
      const number = next++;
      const passportNumber = "P" + me + String(number).padStart(5, "0");
      const answer = await fetch(url + "/v1/api/bookings", {
        method: "POST",
        headers: { authorization: "Bearer " + token, "content-type": "application/json" },
        body: JSON.stringify({
          flightId: 1,
          contactEmail: "rival@example.com",
          paymentMethod: "card",
          passengers: [{ firstName: "A", lastName: "B", email: "rival@example.com", dateOfBirth: "1990-01-01", passportNumber }],
        }),
      });
      counts[answer.status] = (counts[answer.status] ?? 0) + 1;
      await answer.text();
    }
  };
  await Promise.all(Array.from({ length: ${rivalsEach} }, one));
  console.log(JSON.stringify(counts));
`;

/** Whose seats are sold by how many instances of the program. */
const houses = [
  { name: "one instance on SQLite", instances: 1, open: () => Promise.resolve(null) },
  { name: "two instances on PostgreSQL", instances: 2, open: postgresDatabase },
];

describe("four processes of rivals for one flight", () => {
  const possible = houses.filter(({ instances }) => instances === 1 || !skips(noManyConnections));
  test.each(possible)(
    `are sold exactly its ${seats} seats by $name`,
    async (house) => {
      const folder = temporaryFolder();
      folders.push(folder);
      await using database = await house.open();
      const env: Record<string, string> = { LOG_LEVEL: "info" };
      if (database !== null) env["DATABASE_URL"] = database.url;
      const departure = new Date(Date.now() + 30 * 86_400_000).toISOString();
      const arrival = new Date(Date.now() + 30.3 * 86_400_000).toISOString();
      const csv = [
        "flightNumber,airline,origin,destination,departureTime,arrivalTime,cabinClass,seats,price,currency",
        `SK100,Skyhook Air,JFK,LHR,${departure},${arrival},economy,${seats},100.00,USD`,
      ].join("\n");
      const imported = await runSkyhook(["import", "-"], { cwd: folder, env, input: csv });
      expect(imported.out).toBe("1 flight imported\n");
      // The folder holds the keys that all instances share.
      const servers = [await startServer({ cwd: folder, env })];
      while (servers.length < house.instances)
        servers.push(await startServer({ cwd: folder, env }));
      const [server] = servers;
      if (server === undefined) throw new Error("No server was started");
      const token = async (role: string) => {
        const args = ["token", "--email", `${role}@example.com`, "--role", role];
        return (await runSkyhook(args, { cwd: folder, env })).out.trim();
      };
      const [user, admin] = [await token("user"), await token("admin")];

      const rivals = Array.from({ length: processes }, (_, me) =>
        Bun.spawn(
          [
            process.execPath,
            "-e",
            rival,
            (servers[me % servers.length] ?? server).url,
            user,
            String(me),
          ],
          { stdout: "pipe" },
        ),
      );
      const counts = await Promise.all(
        rivals.map(async ({ stdout }) => JSON.parse(await stdout.text()) as Record<string, number>),
      );
      const sum = (status: number) => counts.reduce((all, each) => all + (each[status] ?? 0), 0);
      expect([sum(201), sum(409)]).toEqual([seats, processes * attemptsEach - seats]);

      const get = async (path: string): Promise<unknown> => {
        const headers = { authorization: `Bearer ${admin}` };
        return (await fetch(`${server.url}${path}`, { headers })).json();
      };
      expect(at(await get("/v1/api/flights/1"), "seatsAvailable")).toBe(0);
      const passports = new Set<unknown>();
      let path = "/v1/api/bookings?limit=100&include=total";
      let total: unknown;
      for (;;) {
        const page = await get(path);
        total ??= at(page, "pagination", "total");
        for (const item of itemsAt(page, "data")) {
          const [traveller] = itemsAt(
            await get(`/v1/api/bookings/${String(at(item, "id"))}`),
            "passengers",
          );
          passports.add(`${String(at(item, "id"))} ${String(at(traveller, "passportNumber"))}`);
        }
        if (at(page, "pagination", "hasMore") !== true) break;
        path = `/v1/api/bookings?limit=100&cursor=${String(at(page, "pagination", "nextCursor"))}`;
      }
      expect(total).toBe(seats);
      expect(passports.size).toBe(seats);
      const codes = await Promise.all(servers.map((each) => each.stop()));
      expect(codes.every((code) => code === 0)).toBe(true);
    },
    60_000,
  );
});
