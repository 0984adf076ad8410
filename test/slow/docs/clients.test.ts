import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { treaty } from "@elysiajs/eden";

import { startApp, type TestApp } from "../../support/app.ts";
import { addFlight, seatsLeft } from "../../support/flights.ts";
import { ended } from "../../support/program.ts";

const root = join(import.meta.dir, "../../..");
const page = await Bun.file(join(root, "docs/api.md")).text();

/** The code of the document under a marker, as it stands there. */
function codeOf(name: string): string {
  const code = page.split(`<!-- client: ${name} -->`)[1]?.match(/^\n```\w+\n([^]*?)\n```/)?.[1];
  if (code === undefined) throw new Error(`docs/api.md shows no ${name}`);
  return code;
}

let app: TestApp;
let server: Bun.Server<undefined>;
let folder: string;
let token: string;
let flightId: number;

beforeAll(async () => {
  app = await startApp();
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => app.app.handle(request),
  });
  const departureTime = new Date("2026-12-01T23:25:00Z");
  flightId = (await addFlight(app, { departureTime })).id;
  token = await app.services.tokens.mint({ id: "ada", roles: ["user"] }, 3_600);
  // A folder like that of someone who follows the document: the sources beside it, packages installed.
  folder = await mkdtemp(join(tmpdir(), "skyhook-clients-"));
  for (const entry of ["node_modules", "src", "package.json"]) {
    await symlink(join(root, entry), join(folder, entry));
  }
  const include = ["clients", "src/**/*.d.ts"];
  await Bun.write(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), include }),
  );
});
afterAll(async () => {
  await server.stop(true);
  await app.stop();
  await rm(folder, { recursive: true });
});

/** Runs a command as the document's reader would; fails when it does. */
async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: join(folder, "clients"),
    env: { ...process.env, TOKEN: token, NO_COLOR: "1" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const { out, err, code } = await ended(child);
  expect(code, `${command.join(" ")}\n${out}\n${err}`).toBe(0);
  return out;
}

/** The same code, but for the address that it calls. */
const here = (code: string): string =>
  code.replaceAll("http://localhost:3111", `http://127.0.0.1:${server.port}`);

/** Compiles and runs a client's code, which stands beside this file. */
async function runScript(name: string): Promise<string> {
  const code = await Bun.file(join(import.meta.dir, `${name}.ts.txt`)).text();
  await Bun.write(join(folder, "clients", `${name}.ts`), here(code));
  await run("bun", "check", "--no-script");
  return run("bun", `${name}.ts`);
}

describe("a client of the API", () => {
  test("curl searches, books and lists", async () => {
    await Bun.write(join(folder, "clients", "curl.sh"), `set -e\n${here(codeOf("curl"))}`);
    const before = await seatsLeft(app, flightId);
    const output = await run("sh", "curl.sh");
    expect(output).toContain('"totalResults":1');
    expect(output).toContain('"confirmationSentTo":"ada@example.com"');
    expect(output).toContain('"pagination":{"hasMore":false');
    expect(await seatsLeft(app, flightId)).toBe(before - 1);
  });

  test("Eden's types fit, and it books and cancels", async () => {
    const output = await runScript("eden");
    expect(output).toMatch(/^Booked bk_[0-9a-f]{32} in 2026\nRefund: 499.5 USD\n$/);
  });

  test("a client can be generated, its types fit, and it books and cancels", async () => {
    await Bun.write(join(folder, "clients", "generate.sh"), here(codeOf("generate")));
    await run("sh", "generate.sh");
    const output = await runScript("openapi-fetch");
    expect(output).toMatch(/^Booked bk_[0-9a-f]{32} for 499.5 USD\nRefund: 499.5 USD\n$/);
  });

  // The compiler holds this one: each line is an error that it must find.
  test("Eden's types know what there is not", async () => {
    const { v1 } = treaty(app.app);
    // @ts-expect-error There is no such path.
    expect(v1.api.trains).toBeDefined();
    // @ts-expect-error The destination is required, and passengers are a number.
    const bad = await v1.api.flights.get({ query: { origin: "JFK", passengers: "two" } });
    // @ts-expect-error A problem has no such member.
    expect(bad.error?.value.reason).toBeUndefined();
    expect(bad.error?.value).toMatchObject({ code: "invalid-parameter" });
    const { data } = await v1.api.flights({ id: flightId }).get();
    // @ts-expect-error A flight has no such field.
    expect(data?.gate).toBeUndefined();
    expect(data?.departureTime.getTime()).toBe(Date.parse("2026-12-01T23:25:00Z"));
  });
});
