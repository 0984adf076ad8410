import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { textAt } from "../../../src/base/payload.ts";
import { parseDuration } from "../../../src/base/times.ts";
import { ago } from "../../../src/cli/kit/durations.ts";
import { besideServer, everything, oneLine } from "../../support/cli.ts";
import { programName } from "../../support/program.ts";

const { running, skyhook, newFolder } = besideServer();

const commands = "serve config doctor send verify token replay register backup restore".split(" ");

describe("skyhook", () => {
  test.each(commands)("%s --help shows an example", async (command) => {
    const { out, err, code } = await skyhook([command, "--help"]);
    expect(out).toContain(`Usage: skyhook ${command}`);
    expect(out).toMatch(new RegExp(`Examples?:\n  \\$ .*skyhook ${command}`));
    expect([err, code]).toEqual(["", 0]);
  });

  test("--help lists all commands, --version tells the version", async () => {
    const { out, code } = await skyhook(["--help"]);
    for (const command of commands) expect(out).toContain(`\n  ${command} `);
    expect(code).toBe(0);
    expect(await skyhook(["--version"])).toMatchObject({
      out: expect.stringMatching(
        /^\d+\.\d+\.\d+ \(commit (?:[0-9a-f]{7,}(?:-dirty)?|unknown), Bun \d+\.\d+\.\d+\)\n$/,
      ),
      code: 0,
    });
  });

  test.each([
    [[], "Usage: skyhook"],
    [["sned"], "skyhook: Unknown command 'sned'. Did you mean send?\n"],
    [["serve", "now"], "skyhook: Too many arguments"],
    [["config", "--jsn"], "skyhook: Unknown option '--jsn'. Did you mean --json?\n"],
    [["token"], "--email"],
    [["token", "--email", "a@b", "--ttl", "1w"], "30s, 15m, 1h or 7d"],
    [["token", "--email", "a@b", "--ttl", "366d"], "maximum is 365d"],
    [["token", "--email", "a@b", "--role", "root"], "user, operator, admin"],
    [["token", "--email", "a b@c"], "--email is invalid; expected: "],
    [["token", "--email", `${"a".repeat(250)}@b.de`], "--email is invalid; expected: "],
    [
      ["token", "--email", "a@b", "--name", " "],
      "--name is invalid; expected: 1 to 200 characters",
    ],
    [["send"], "task_tracker, shared_inbox"],
    [["send", "task_trakcer", "task.completed"], "task_tracker, shared_inbox"],
    [
      ["send", "shopify", "orders/create"],
      `shopify is not added yet. Run \`${programName} provider add`,
    ],
    [["send", "task_tracker"], "comment.added, task.completed, task.created"],
    [["send", "task_tracker", "push"], "comment.added, task.completed, task.created"],
    [["send", "task_tracker", "task.created", "--tamper", "time"], "payment_processor does"],
    [["send", "task_tracker", "task.created", "--tamper", "all"], "signature, body, time"],
    [["send", "task_tracker", "task.created", "--server", "localhost:1"], "like http://"],
    [["send", "task_tracker", "task.created", "--id", "1"], "a UUID"],
    [["verify", "task_tracker"], "--body"],
    [["verify", "nobody", "--body", "-"], "task_tracker, shared_inbox"],
    [["verify", "task_tracker", "--body", "-", "--header", "nonsense"], "name: value"],
    [["verify", "task_tracker", "--body", "-", "--at", "2026-11-21"], "with its offset"],
    [
      ["verify", "task_tracker", "--body", "-", "--at", "2026-11-31T09:00:00Z"],
      "a time that exists",
    ],
    [["replay"], "event id"],
    [["replay", "evt_0", "--from", "1h"], "leave out --from"],
    [["register", "deploy_platform"], "--url <url> is required"],
    [["register", "deploy_platform", "--url", "ftp://a", "--api-url", "https://b"], "like http://"],
  ] as const)("%j is invalid usage", async (args, hint) => {
    const { out, err, code } = await skyhook(args, { env: everything, input: "" });
    expect(err).toContain(hint);
    expect(err).not.toContain("    at ");
    expect([out, code]).toEqual(["", 2]);
  });
});

describe("skyhook serve", () => {
  const failing = async (env: Record<string, string>, cwd = newFolder()) => {
    const { out, err, code } = await skyhook(["serve"], { cwd, env });
    expect(out).toBe("");
    expect(err.match(/\n/g)).toHaveLength(1);
    return { err, code };
  };

  test("says what to do when the port is taken", async () => {
    const port = new URL(running().url).port;
    const err = oneLine(
      `Port ${port} is in use: stop the program that uses it, or set another PORT`,
    );
    expect(await failing({ PORT: port })).toEqual({ err, code: 1 });
  });

  test("says what to do when HOST is not of this machine", async () => {
    const { err, code } = await failing({ PORT: "0", HOST: "192.0.2.1" });
    expect(err).toContain("HOST=0.0.0.0");
    expect(code).toBe(1);
  });

  test("says what to do when the database is newer, or none", async () => {
    const cwd = newFolder();
    const newer = new Database(join(cwd, "newer.db"), { create: true });
    newer.run("create table migrations (name text not null primary key) strict");
    newer.run("insert into migrations values ('0.1.0'), ('9.9.0 future')");
    newer.close();
    await Bun.write(
      join(cwd, "none.db"),
      "This is no database, but a long enough text. ".repeat(40),
    );
    const [future, none, locked] = await Promise.all([
      failing({ PORT: "0", DATABASE_URL: "sqlite:newer.db" }, cwd),
      failing({ PORT: "0", DATABASE_URL: "sqlite:none.db" }, cwd),
      failing({ PORT: "0", DATA_DIR: "none.db" }, cwd),
    ]);
    expect(future).toMatchObject({
      err: expect.stringContaining("skyhook 9.9.0 migrated it"),
      code: 1,
    });
    expect(none).toMatchObject({ err: expect.stringContaining("restore a backup"), code: 1 });
    expect(locked).toMatchObject({ err: expect.stringContaining("DATA_DIR"), code: 1 });
  });

  test("takes no wrong setting and no empty secret", async () => {
    const [port, secret] = await Promise.all([
      failing({ PORT: "many" }),
      failing({ PORT: "0", CODE_HOST_WEBHOOK_SECRET: "" }),
    ]);
    expect(port).toMatchObject({ err: expect.stringContaining("PORT must be"), code: 2 });
    expect(secret).toMatchObject({ err: expect.stringContaining("is empty: set it"), code: 2 });
  });
});

describe("skyhook config", () => {
  const env = {
    PORT: "8080",
    JWT_SECRET: "a secret key of thirty-two bytes!!",
    OPERATOR_GATEWAY_URL: "https://me:hunter2@gateway.example/in",
    OPERATOR_GATEWAY_SECRET: `whsec_${Buffer.alloc(24, 7).toString("base64")}`,
    CODE_HOST_WEBHOOK_SECRET: "a secret nobody sees",
  };

  test("prints each setting in 100 columns, without a secret", async () => {
    const { out, code } = await skyhook(["config"], { env });
    const lines = out.split("\n");
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(out).toMatch(/^PORT {2}8080 \(default 3111\)\n {4}Port to listen on/m);
    expect(out).toMatch(/^JWT_SECRET {2}\(set\)\n/m);
    expect(out).toMatch(/^code_host +secrets\/code_host_webhook_secret +set in/m);
    expect(out).toMatch(/^task_tracker .* missing$/m);
    expect(out).not.toMatch(/thirty-two bytes!!|hunter2|nobody sees|BwcHBwcH/);
    expect(out).not.toContain("\u001b");
    expect(out).not.toContain("](");
    expect(code).toBe(0);
  });

  test("--json prints the same as data", async () => {
    const { out } = await skyhook(["config", "--json"], { env });
    const lines = out.trim().split("\n");
    const facts = lines.map((line): unknown => JSON.parse(line));
    const port = { key: "PORT", value: "8080", default: "3111", secret: false };
    expect(facts).toContainEqual(expect.objectContaining(port));
    expect(facts.flatMap((one) => textAt(one, "variable") ?? [])).toEqual([
      "TASK_TRACKER_WEBHOOK_SECRET",
      "SHARED_INBOX_WEBHOOK_SECRET",
      "DEPLOY_PLATFORM_WEBHOOK_SECRET",
      "CODE_HOST_WEBHOOK_SECRET",
    ]);
    expect(out).not.toMatch(/thirty-two bytes!!|hunter2|nobody sees/);
  });
});

describe("durations", () => {
  test.each([
    ["30s", 30],
    ["15m", 900],
    ["1h", 3_600],
    [" 7d ", 604_800],
    ["365d", 31_536_000],
  ])("%s is %d seconds", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each([
    "",
    "0s",
    "1",
    "h",
    "-1h",
    "1.5h",
    "1h30m",
    "1w",
    "1 h",
    "366d",
    "9999999999s",
    "1e3s",
  ])("%j is none", (text) => {
    expect(() => parseDuration(text)).toThrow();
  });

  test.each([
    [-60_000, "just now"],
    [0, "just now"],
    [59_000, "59 s ago"],
    [180_000, "3 min ago"],
    [7_200_000, "2 h ago"],
    [259_200_000, "3 days ago"],
  ])("%d ms is %s", (ms, text) => {
    expect(ago(ms)).toBe(text);
  });
});
