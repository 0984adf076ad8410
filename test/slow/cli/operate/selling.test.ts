import { Database } from "bun:sqlite";
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { at, itemsAt } from "../../../../src/base/payload.ts";
import { until } from "../../../support/app.ts";
import { csvHeader, csvLine } from "../../../support/flights-csv.ts";
import { bookingBody, post } from "../../../support/flights.ts";
import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  spawnSkyhook,
  startServer,
  temporaryFolder,
} from "../../../support/program.ts";

const folders: string[] = [];
let cwd = "";
beforeEach(() => {
  cwd = temporaryFolder();
  folders.push(cwd);
});
afterAll(() => folders.forEach(removeFolder));

const skyhook = (...args: string[]) => runSkyhook(args, { cwd });
const line = (fields: Partial<Parameters<typeof csvLine>[0]> = {}) =>
  csvLine({ flightNumber: "SK100", ...fields });
const write = (name: string, ...lines: string[]) => {
  writeFileSync(join(cwd, name), `${lines.join("\n")}\n`);
  return name;
};
const flights = () => {
  using database = new Database(join(cwd, "data/skyhook.db"), { readonly: true });
  return database
    .query<{ flight_number: string; seats: number; seats_available: number }, []>(
      "select flight_number, seats, seats_available from flights order by id",
    )
    .all();
};

describe("skyhook import", () => {
  test("brings in CSV and NDJSON, and updates what it knows", async () => {
    const csv = write(
      "flights.csv",
      csvHeader,
      line(),
      line({ flightNumber: "SK200", cabinClass: "first" }),
    );
    expect(await skyhook("import", csv)).toEqual({ out: "2 flights imported\n", err: "", code: 0 });
    const keys = csvHeader.split(",");
    const values = line({ seats: 20 }).split(",");
    const record = Object.fromEntries(keys.map((key, index) => [key, values[index]]));
    const ndjson = write("flights.ndjson", JSON.stringify({ ...record, seats: 20 }));
    expect((await skyhook("import", ndjson)).out).toBe("1 flight imported\n");
    expect(flights()).toEqual([
      { flight_number: "SK100", seats: 20, seats_available: 20 },
      { flight_number: "SK200", seats: 10, seats_available: 10 },
    ]);
  });

  test("knows NDJSON by its first character where no name tells, as on standard input", async () => {
    const values = line().split(",");
    const record = Object.fromEntries(
      csvHeader.split(",").map((key, index) => [key, values[index]]),
    );
    const json = JSON.stringify({ ...record, seats: 20 });
    for (const text of [
      `${json}\n`,
      `\ufeff\n  ${json}`,
      `${csvHeader}\n${line()}\n`,
      `\ufeff${csvHeader}\n${line()}`,
    ]) {
      const result = await runSkyhook(["import", "-"], { cwd, input: text });
      expect(result).toEqual({ out: "1 flight imported\n", err: "", code: 0 });
    }
    const broken = await runSkyhook(["import", "-"], { cwd, input: `${json}\n{\n` });
    expect(broken.err).toMatch(/^line 2: .*JSON/m);
    const said = await runSkyhook(["import", "-", "--format", "csv"], { cwd, input: json });
    expect(said.err).toMatch(/^line 1: /m);
  });

  test("names a bad line and brings in nothing, or all but it with --skip-bad", async () => {
    const file = write(
      "flights.csv",
      csvHeader,
      line(),
      line({ cabinClass: "roof" }),
      line({ seats: -1 }),
    );
    const refused = await skyhook("import", file);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/^line 3: .*cabinClass/m);
    expect(refused.err).toMatch(/^line 4: .*seats/m);
    expect(refused.err).toContain("2 bad lines: nothing was imported, nor was 1 good line");
    expect(existsSync(join(cwd, "data/skyhook.db"))).toBe(false);
    const same = write(
      "same.csv",
      csvHeader,
      ...Array.from({ length: 9 }, () => line({ seats: -1 })),
    );
    expect((await skyhook("import", same)).err).toMatch(/^lines 2, 3, 4, 5, 6 and 4 more: .*seats/);
    const skipped = await skyhook("import", file, "--skip-bad");
    expect(skipped.out).toBe("1 flight imported, 2 bad lines skipped\n");
    expect(flights()).toHaveLength(1);
  });

  test.each([
    [["import"], 2, "Missing required argument"],
    [["import", "none.csv"], 1, "The file none.csv does not exist"],
    [["import", "x.csv", "--format", "xml"], 2, "csv, ndjson"],
  ])("%j fails with %d", async (args, code, says) => {
    const result = await skyhook(...args);
    expect(result.code).toBe(code);
    expect(result.err).toContain(says);
  });
});

describe("skyhook client", () => {
  test("makes, lists and removes a client that gets its own tokens", async () => {
    expect((await skyhook("client", "add", "--name", "c\ni")).code).toBe(2);
    const added = await skyhook("client", "add", "--name", "ci", "--role", "operator");
    const [, id = "", secret = ""] =
      /^client_id=(\S+)\nclient_secret=(\S+)\n$/.exec(added.out) ?? [];
    expect((await skyhook("client", "list")).out).toContain(`${id}  ci    operator`);
    const server = await startServer({ cwd });
    const grant = () =>
      fetch(`${server.url}/v1/auth/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "client_credentials",
          client_id: id,
          client_secret: secret,
        }),
      });
    const granted: unknown = await (await grant()).json();
    expect(granted).toMatchObject({ token_type: "Bearer", expires_in: 3_600 });
    const headers = { authorization: `Bearer ${String(at(granted, "access_token"))}` };
    expect((await fetch(`${server.url}/v1/events`, { headers })).status).toBe(200);
    expect((await skyhook("client", "remove", id)).code).toBe(0);
    expect((await grant()).status).toBe(401);
    await until(
      async () => (await fetch(`${server.url}/v1/events`, { headers })).status === 401,
      10_000,
    );
    const token = (await skyhook("token", "--email", "ada@example.com")).out.trim();
    expect((await skyhook("token", "revoke", token)).out).toContain("revoked");
    expect((await skyhook("token", "revoke", token)).err).toContain("already revoked");
    const ended = await skyhook("token", "revoke", "--subject", "ADA@example.com");
    expect(ended.out).toMatch(/^revoked every token of [0-9a-f-]{36}, /);
    expect((await skyhook("token", "revoke", token, "--subject", "ada")).code).toBe(2);
    expect((await skyhook("client", "remove", id)).err).toContain("There is no client");
    expect(server.log()).not.toContain(secret);
    expect(await server.stop()).toBe(0);
  });
});

describe("skyhook booking reveal", () => {
  test("shows what is sealed, and records who asked and why", async () => {
    await skyhook("import", write("flights.csv", csvHeader, line()));
    const server = await startServer({ cwd });
    const token = (await skyhook("token", "--email", "ada@example.com")).out.trim();
    const booked = await fetch(
      `${server.url}/v1/api/bookings`,
      post(bookingBody(1), { authorization: `Bearer ${token}` }),
    );
    const id = String(at(await booked.json(), "bookingId"));
    const shown = await skyhook("booking", "reveal", id, "--reason", "visa check");
    expect(shown.out).toContain("Ada Lovelace  1990-04-12     X0000001");
    using database = new Database(join(cwd, "data/skyhook.db"), { readonly: true });
    expect(database.query("select booking_id, reason from disclosures").all()).toEqual([
      { booking_id: id, reason: "visa check" },
    ]);
    expect((await skyhook("booking", "reveal", id)).code).toBe(2);
    for (const reason of ["", " ", "visa\nanother line", "x".repeat(501)]) {
      const refused = await skyhook("booking", "reveal", id, "--reason", reason);
      expect([refused.out, refused.code]).toEqual(["", 2]);
      expect(refused.err).toContain("Write 1 to 500 characters, not all invisible");
    }
    const none = await skyhook("booking", "reveal", "bk_0", "--reason", "x");
    expect([none.code, none.err]).toEqual([1, "skyhook: No booking has this id\n"]);
    expect(server.log()).not.toContain("X1234567");
    expect(await server.stop()).toBe(0);
  });
});

/** The token of a role at a demo whose state is in the folder of the test. */
async function demoToken({ env: { PORT } }: RunningServer, role: string): Promise<string> {
  const env = { XDG_RUNTIME_DIR: cwd, PORT };
  return (
    await runSkyhook(["--demo", "token", "--email", "ada@demo.example", "--role", role], {
      cwd,
      env,
    })
  ).out.trim();
}

/** Of all bookings: few are cancelled. */
async function statusesOfBookings(url: string, token: string): Promise<ReadonlySet<unknown>> {
  const headers = { authorization: `Bearer ${token}` };
  const statuses = new Set<unknown>();
  let next: string | undefined = "/v1/api/bookings?limit=100";
  while (next !== undefined) {
    const response: Response = await fetch(new URL(next, url), { headers });
    for (const booking of itemsAt(await response.json(), "data"))
      statuses.add(at(booking, "status"));
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return statuses;
}

/** Each notification was sent once, after its event; none looks like another. `failed`: an event in the outage. */
async function tellsTheTruth(url: string, token: string, failed: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const read = async (path: string): Promise<unknown> =>
    (await fetch(new URL(path, url), { headers })).json();
  const listed = async (path: string) => itemsAt(await read(path), "data");
  const time = (item: unknown, name: string) => Date.parse(String(at(item, name)));
  const past = `to=${new Date(Date.now() - 2 * 60_000).toISOString()}&limit=100`;
  const events = await listed(`/v1/events?${past}`);
  const titles = events.map((event) => String(at(event, "title")));
  expect(titles.filter((title, index) => titles.indexOf(title) < index)).toEqual([]);
  expect(events.filter((each) => time(each, "occurredAt") > time(each, "createdAt"))).toEqual([]);
  const destinations = await listed("/v1/destinations");
  expect(destinations.map((each) => String(at(each, "name"))).toSorted()).toEqual([
    "finance",
    "incidents",
    "on-call",
    "staging",
  ]);
  for (const destination of destinations) {
    const path = `/v1/destinations/${String(at(destination, "id"))}/deliveries?limit=100`;
    for (const each of await listed(path)) {
      const isFailed = at(each, "eventId") === failed && at(destination, "name") === "incidents";
      expect(at(each, "attemptCount")).toBe(isFailed ? 7 : 1);
      if (!isFailed) {
        const tookMs = time(each, "deliveredAt") - time(each, "createdAt");
        expect(tookMs).toBeWithin(0, 30_000);
      }
    }
    // It failed for a while, and works again.
    const { failures, state } = Object(destination);
    expect({ failures, state }).toEqual({ failures: 0, state: "active" });
  }
}

describe("skyhook demo", () => {
  test("serves flights, tokens and webhooks, takes no secret of its folder, and leaves nothing behind", async () => {
    const file = "secrets/code_host_webhook_secret";
    await Bun.write(join(cwd, file), "the secret of another server");
    // Whoever read it would find no key, and not start.
    await Bun.write(join(cwd, "data/personal_data_key_previous"), "no key");
    const temporary = temporaryFolder();
    folders.push(temporary);
    const server = await startServer({ cwd, env: { TMPDIR: temporary } }, "demo");
    await until(() => server.log().includes("console#code="), 40_000);
    const headers = { authorization: `Bearer ${await demoToken(server, "operator")}` };
    await until(async () => {
      const events: unknown = await (await fetch(`${server.url}/v1/events`, { headers })).json();
      return itemsAt(events, "data").length > 0;
    }, 10_000);
    // Something to look at in each view, and a link that signs in.
    const listed = async (path: string) =>
      itemsAt(await (await fetch(`${server.url}${path}`, { headers })).json(), "data");
    await until(async () => (await listed("/v1/rejections")).length > 0, 30_000);
    const admin = await demoToken(server, "admin");
    const statuses = await statusesOfBookings(server.url, admin);
    expect(statuses).toEqual(new Set(["cancelled", "confirmed", "expired", "held"]));
    const dead = await listed("/v1/events?delivery=dead");
    expect(dead.map((event) => at(event, "type"))).toEqual(["deploy.error"]);
    await tellsTheTruth(server.url, admin, at(dead[0], "id"));
    // A bad deploy that a customer's refund follows.
    const deploys = await listed("/v1/events?provider=deploy_platform&limit=100");
    const titles = deploys.map((event) => String(at(event, "title")));
    expect(titles).toContainEqual(
      expect.stringMatching(/booking-api .*failed: Charge cards before/),
    );
    expect(titles).toContainEqual(expect.stringContaining("Roll back: Charge cards before"));
    const refunds = await listed("/v1/events?type=charge.refunded&limit=100");
    expect(refunds.map((event) => String(at(event, "title")))).toContainEqual(
      expect.stringContaining("noor.haddad@example.net"),
    );
    const reasons = (await listed("/v1/rejections")).map((rejection) => at(rejection, "reason"));
    expect(reasons.length).toBeGreaterThanOrEqual(2);
    const load = await fetch(`${server.url}/v1/flights/load?days=7`, { headers });
    const days = itemsAt(await load.json(), "days");
    const sum = (name: string) => days.reduce<number>((all, day) => all + Number(at(day, name)), 0);
    expect(sum("sold") / sum("seats")).toBeWithin(0.2, 0.7);
    // What the console adds is in a folder that ends with the demo.
    for (const [path, body, status] of [
      ["/v1/providers", { catalogue: "slack", makeSecret: true }, 201],
      ["/v1/providers/slack/test", {}, 200],
    ] as const) {
      const init = post(body, { authorization: `Bearer ${admin}` });
      expect([path, (await fetch(`${server.url}${path}`, init)).status]).toEqual([path, status]);
    }
    const isOfDemo = (name: string) => name.startsWith("skyhook-demo-");
    expect(readdirSync(temporary).filter(isOfDemo)).toHaveLength(1);
    const code = /console#code=(\S+)/.exec(server.log())?.[1] ?? "";
    const opened = await fetch(
      `${server.url}/v1/auth/session`,
      post({ code }, { "x-skyhook-console": "1" }),
    );
    expect(opened.status).toBe(200);
    expect(server.log()).not.toContain(file);
    expect(await server.stop()).toBe(0);
    expect(readdirSync(cwd, { recursive: true, encoding: "utf8" }).toSorted()).toEqual([
      "data",
      "data/personal_data_key_previous",
      "secrets",
      file,
    ]);
    expect(readdirSync(temporary).filter(isOfDemo)).toEqual([]);
  }, 60_000);

  test("prints commands that work from another terminal, and pages that are there", async () => {
    const [elsewhere, home, runtime] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    folders.push(elsewhere, home, runtime);
    const env = { PORT: "0", XDG_RUNTIME_DIR: runtime };
    const child = spawnSkyhook(["demo"], { cwd, env });
    let log = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      log += text;
      if (log.includes("console#code=")) break;
    }
    const lines = log.split("\n");
    const commands = lines
      .slice(lines.indexOf("In another terminal, run any of these:") + 1)
      .filter((line) => /^  [^# ]/.test(line) && !line.includes("#code="))
      .map((line) => line.trim());
    // A shell of its own in another folder, which has nothing of ours but the demo's state.
    const paste = (command: string, follows: boolean) =>
      Bun.spawn(["bash", "-c", `exec env ${command}${follows ? " 2>&1" : ""}`], {
        cwd: elsewhere,
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          XDG_RUNTIME_DIR: runtime,
          // Settings of another server, which no command for the demo may use.
          DATABASE_URL: "postgres://nobody@127.0.0.1:1/real",
          JWT_SECRET: "the key of another server, not the demo's",
          OPERATOR_TOKEN: "a.token.of-another",
        },
      });
    // These follow what happens, and do not end by themselves.
    const following = {
      "/v1/feed": "retry: ",
      " tail": " evt_",
      " listen --to http://localhost:3000": "sending webhooks of",
    };
    const answers: string[] = [];
    for (const command of commands) {
      const [, awaited] = Object.entries(following).find(([end]) => command.endsWith(end)) ?? [];
      const shell = paste(command, awaited !== undefined);
      let out = "";
      for await (const text of shell.stdout.pipeThrough(new TextDecoderStream())) {
        out += text;
        if (awaited !== undefined && out.includes(awaited)) break;
      }
      if (awaited !== undefined) shell.kill();
      const exitCode = await shell.exited;
      if (awaited === undefined) expect([command, exitCode]).toEqual([command, 0]);
      else expect([command, out]).toEqual([command, expect.stringContaining(awaited)]);
      answers.push(out);
    }
    const [sent, found, replay, , , paid, search, booking, graphql, events] = answers;
    const link = answers.at(-1) ?? "";
    expect(found).toContain("deploy.error");
    expect(replay).toMatch(/^\d+ events? would be replayed/);
    expect([sent, paid]).toEqual(Array(2).fill(expect.stringMatching(/^200 accepted/)));
    expect(itemsAt(JSON.parse(search ?? ""), "flights").length).toBeGreaterThan(0);
    expect(at(JSON.parse(booking ?? ""), "status")).toBe("confirmed");
    const flights = at(JSON.parse(graphql ?? ""), "data", "flights");
    expect(at(flights, "totalCount")).toBe(360);
    const numbers = itemsAt(flights, "nodes").map((each) => at(each, "flightNumber"));
    expect(new Set(numbers).size).toBe(3);
    expect(itemsAt(JSON.parse(events ?? ""), "data").length).toBeGreaterThan(0);
    const { origin, hash } = new URL(link.trim());
    const signedIn = await fetch(
      `${origin}/v1/auth/session`,
      post({ code: hash.slice(6) }, { "x-skyhook-console": "1" }),
    );
    expect(signedIn.status).toBe(200);
    expect(readdirSync(elsewhere)).toEqual([]);
    const pages = lines.flatMap((line) => /^  [\w ]+ (http:\S+)$/.exec(line)?.[1] ?? []);
    expect(pages.length).toBeGreaterThanOrEqual(2);
    for (const page of pages) {
      const answer = await fetch(page, { headers: { accept: "text/html" } });
      expect([page, answer.status]).toEqual([page, 200]);
    }
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  }, 120_000);

  test("is found by its folder or port, and never mistaken for another one", async () => {
    const runtime = temporaryFolder();
    const [here, there] = [temporaryFolder(), temporaryFolder()];
    folders.push(runtime, here, there);
    const env = { XDG_RUNTIME_DIR: runtime };
    const demos = await Promise.all(
      [here, there].map((folder) => startServer({ cwd: folder, env }, "demo")),
    );
    await until(() => demos.every((demo) => demo.log().includes("console#code=")), 120_000);
    const ports = demos.map((demo) => demo.env.PORT);
    const address = async (folder: string, PORT = "") => {
      const found = await runSkyhook(["--demo", "console"], { cwd: folder, env: { ...env, PORT } });
      return { code: found.code, text: found.out + found.err };
    };
    for (const [index, folder] of [here, there].entries()) {
      const port = ports[index] ?? "";
      expect((await address(folder)).text).toContain(`:${port}/console#code=`);
      expect((await address(cwd, port)).text).toContain(`:${port}/console#code=`);
    }
    for (const [PORT, says] of [
      ["", "2 demos run"],
      ["4", "PORT is 4, and no demo runs there"],
    ]) {
      const asked = await address(cwd, PORT);
      expect(asked.code).toBe(2);
      for (const text of [says ?? "", ...ports.map((port) => `PORT=${port} `), here, there])
        expect(asked.text).toContain(text);
    }
    // As if a second one ran in the same folder: those of other folders are no choice.
    const files = readdirSync(runtime).map((name) => readFileSync(join(runtime, name), "utf8"));
    const second = join(runtime, `skyhook.demo-${process.getuid?.()}-0.json`);
    const first = files.find((text) => text.includes(here)) ?? "";
    writeFileSync(second, first.replace(`"${ports[0]}"`, '"5"'));
    const { text } = await address(here);
    expect(text).toContain("2 demos run");
    for (const port of [ports[0], "5"]) expect(text).toContain(`PORT=${port} `);
    expect(text).not.toContain(there);
    rmSync(second);
    await demos[0]?.kill();
    // The only one that is left; the file of the killed one is removed by the next demo.
    expect((await address(here)).text).toContain(`:${ports[1]}/console#code=`);
    expect(readdirSync(runtime)).toHaveLength(2);
    expect(await demos[1]?.stop()).toBe(0);
  }, 180_000);

  test("has its past once in a database that it is given, with secrets for all providers", async () => {
    const env = { DATABASE_URL: `sqlite:${join(cwd, "given.db")}` };
    const counts: number[] = [];
    for (let start = 1; start <= 2; start += 1) {
      const server = await startServer({ cwd, env }, "demo");
      await until(() => server.log().includes("console#code="), 60_000);
      const headers = { authorization: `Bearer ${await demoToken(server, "operator")}` };
      const events = await fetch(`${server.url}/v1/events?type=deploy.error&limit=100`, {
        headers,
      });
      const titles = itemsAt(await events.json(), "data").map((event) =>
        String(at(event, "title")),
      );
      counts.push(titles.filter((title) => title.includes("Charge cards")).length);
      // The receivers of this demo, also where an earlier one made the destinations.
      const admin = { authorization: `Bearer ${await demoToken(server, "admin")}` };
      const list = await fetch(`${server.url}/v1/destinations`, { headers: admin });
      const destinations = itemsAt(await list.json(), "data");
      expect(destinations).toHaveLength(4);
      for (const destination of destinations) {
        const path = `${server.url}/v1/destinations/${String(at(destination, "id"))}/test`;
        const tested = await fetch(path, { method: "POST", headers: admin });
        expect(await tested.json()).toMatchObject({ delivered: true, responseStatus: 200 });
      }
      expect(await server.stop()).toBe(0);
    }
    expect(counts).toEqual([1, 1]);
  }, 120_000);
});
