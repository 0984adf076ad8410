import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ago, parseDuration } from "../src/cli/durations.ts";
import { secretStore } from "../src/secrets.ts";
import { at, isObject, itemsAt, textAt } from "../src/webhooks/payload.ts";
import { catalogue } from "../src/webhooks/providers.ts";
import { sign } from "../src/webhooks/signature.ts";

import { providerOf, until } from "./support/app.ts";
import { complete } from "./support/complete.ts";
import { gatewaySecret, testGateway } from "./support/gateway.ts";
import {
  type RunningServer,
  runSkyhook,
  startServer,
  type Surroundings,
} from "./support/program.ts";

// Many programs run at once here, on a machine that may be busy besides.
setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "skyhook-cli-"));
const newFolder = () => mkdtempSync(join(folder, "run-"));

const secretOf = (provider: string) => `a secret of ${provider}`;
const variableOf = (provider: string) => `${provider.toUpperCase()}_WEBHOOK_SECRET`;
const allSecrets = {
  ...Object.fromEntries(catalogue.map(({ id }) => [variableOf(id), secretOf(id)])),
  PAYMENT_PROCESSOR_WEBHOOK_SECRET: "whsec_of payment_processor",
};
const everything = {
  ...allSecrets,
  WEBHOOK_PROVIDERS: catalogue.map(({ id }) => id).join(","),
};

/** Runs a command to its end, in a new folder where none is named. */
const skyhook = (
  args: readonly string[],
  { cwd = newFolder(), ...rest }: Partial<Surroundings> = {},
) => runSkyhook(args, { cwd, ...rest });

/** One line, without a stack trace. */
const oneLine = (text: string) => `skyhook: ${text}\n`;

/** A server of its own, in a new folder where none is named. */
const serve = ({ cwd = newFolder(), ...rest }: Partial<Surroundings>) =>
  startServer({ cwd, ...rest });

let server: RunningServer;

beforeAll(async () => {
  server = await serve({ env: everything });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  rmSync(folder, { recursive: true });
});

/** Runs a command beside the server, with its settings. */
const beside = (...args: string[]) => skyhook(args, server);

async function get(path: string, token: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: await response.json() };
}

async function operatorToken(): Promise<string> {
  const made = await beside("token", "--email", "op@example.com", "--role", "operator");
  return made.out.trim();
}

/** The JSON that `send` prints after its first line. */
function answerIn(out: string): Record<string, unknown> {
  const value: unknown = JSON.parse(out.slice(out.indexOf("\n")));
  return isObject(value) ? value : {};
}

const commands = [
  "serve",
  "config",
  "doctor",
  "send",
  "verify",
  "token",
  "replay",
  "register",
].concat(["backup", "restore"]);

describe("skyhook", () => {
  test.concurrent.each(commands)("%s --help shows an example", async (command) => {
    const { out, err, code } = await skyhook([command, "--help"]);
    expect(out).toContain(`Usage: skyhook ${command}`);
    expect(out).toMatch(new RegExp(`Example:\n  \\$ .*skyhook ${command}`));
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

  test.concurrent.each([
    [[], "Usage: skyhook"],
    [["sned"], "Did you mean send?"],
    [["serve", "now"], "too many arguments"],
    [["config", "--yaml"], "unknown option"],
    [["token"], "--email"],
    [["token", "--email", "a@b", "--ttl", "1w"], "30s, 15m, 1h or 7d"],
    [["token", "--email", "a@b", "--ttl", "366d"], "365d at most"],
    [["token", "--email", "a@b", "--role", "root"], "user, operator, admin"],
    [["token", "--email", "a b@c"], "--email is wrong; expected: "],
    [["token", "--email", `${"a".repeat(250)}@b.de`], "--email is wrong; expected: "],
    [["token", "--email", "a@b", "--name", " "], "--name is wrong; expected: 1 to 200 characters"],
    [["send"], "task_tracker, shared_inbox"],
    [["send", "task_trakcer", "task.completed"], "task_tracker, shared_inbox"],
    [["send", "task_tracker"], "comment.added, task.completed, task.created"],
    [["send", "task_tracker", "push"], "comment.added, task.completed, task.created"],
    [["send", "task_tracker", "task.created", "--tamper", "time"], "payment_processor does"],
    [["send", "task_tracker", "task.created", "--tamper", "all"], "signature, body, time"],
    [["send", "task_tracker", "task.created", "--url", "localhost:1"], "like http://"],
    [["send", "task_tracker", "task.created", "--id", "1"], "a UUID"],
    [["verify", "task_tracker"], "--body"],
    [["verify", "nobody", "--body", "-"], "task_tracker, shared_inbox"],
    [["verify", "task_tracker", "--body", "-", "--header", "nonsense"], "name: value"],
    [["verify", "task_tracker", "--body", "-", "--at", "2026-11-21"], "with its offset"],
    [["replay"], "event id"],
    [["replay", "evt_0", "--undelivered"], "event id"],
    [["register", "deploy_platform", "--url", "https://a.example"], "--api-url"],
    [["register", "deploy_platform", "--url", "ftp://a", "--api-url", "https://b"], "like http://"],
  ] as const)("%j is wrong usage", async (args, hint) => {
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
    const port = new URL(server.url).port;
    const err = oneLine(`Port ${port} is taken: stop the program that has it, or set another PORT`);
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
    newer.run("insert into migrations values ('9999_future')");
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
      err: expect.stringContaining("run the newer skyhook"),
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

  test("prints an aligned table without a secret", async () => {
    const { out, code } = await skyhook(["config"], { env });
    const [head = "", ...lines] = out.split("\n");
    const column = head.indexOf("MEANING");
    const settings = lines.slice(0, lines.indexOf(""));
    expect(settings.length).toBeGreaterThan(10);
    for (const line of settings) expect(line.slice(column - 2, column + 1)).toMatch(/^ {2}\S$/);
    expect(out).toMatch(/^PORT +8080 +3111 +Port to listen on/m);
    expect(out).toMatch(/^JWT_SECRET +\(set\) +- /m);
    expect(out).toMatch(
      /^code_host +CODE_HOST_WEBHOOK_SECRET +secrets\/code_host_webhook_secret +set in/m,
    );
    expect(out).toMatch(/^task_tracker .* missing$/m);
    expect(out).not.toMatch(/thirty-two bytes!!|hunter2|nobody sees|BwcHBwcH/);
    expect(out).not.toContain("\u001b");
    expect(code).toBe(0);
  });

  test("--json prints the same as data", async () => {
    const { out } = await skyhook(["config", "--json"], { env });
    const facts: unknown = JSON.parse(out);
    const port = { key: "PORT", value: "8080", default: "3111", secret: false };
    expect(at(facts, "settings")).toContainEqual(expect.objectContaining(port));
    expect(itemsAt(facts, "webhookSecrets").map((one) => textAt(one, "variable"))).toEqual([
      "TASK_TRACKER_WEBHOOK_SECRET",
      "SHARED_INBOX_WEBHOOK_SECRET",
      "DEPLOY_PLATFORM_WEBHOOK_SECRET",
      "CODE_HOST_WEBHOOK_SECRET",
    ]);
    expect(out).not.toMatch(/thirty-two bytes!!|hunter2|nobody sees/);
  });
});

describe("skyhook token", () => {
  test("prints nothing but a token that the running server takes", async () => {
    const made = await beside("token", "--email", "Ada@Example.com", "--role", "operator");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(made.err).toContain("made user");
    expect(await get("/v1/events", made.out.trim())).toMatchObject({ status: 200 });

    const again = await beside("token", "--email", "ada@EXAMPLE.com", "--name", "Other");
    expect(again.err).toContain("found user");
    expect(made.err + again.err).not.toContain("signing key");
    expect(again.err).toContain("Ada@Example.com (Ada)");
    expect(again.err).toContain("keeps its name");
    const [one, other] = [made, again].map(({ out }) => claimsOf(out));
    expect(textAt(one, "sub")).toBe(textAt(other, "sub") ?? "");
    expect(await get("/v1/events", again.out.trim())).toMatchObject({ status: 403 });
  });

  test("needs no server, and lives as long as it is told", async () => {
    const { out, err } = await skyhook([
      "token",
      "--email",
      "a@b.c",
      "--name",
      "A B",
      "--ttl",
      "15m",
    ]);
    const claims = claimsOf(out);
    expect(Number(at(claims, "exp")) - Number(at(claims, "iat"))).toBe(900);
    expect(at(claims, "roles")).toEqual(["user"]);
    expect(err).toContain("(A B)");
    expect(err).toMatch(/made a signing key in .+: a server with another DATA_DIR or JWT_SECRET/);
  });

  test("of a server in memory says that the user is not kept", async () => {
    const env = { DATABASE_URL: "sqlite::memory:" };
    const { out, err, code } = await skyhook(["token", "--email", "a@b.c"], { env });
    expect(claimsOf(out)).toMatchObject({ roles: ["user"] });
    expect(err).toContain("is not kept");
    expect(code).toBe(0);
  });

  test("and another at the same moment end up with one key and one user", async () => {
    const cwd = newFolder();
    const made = await Promise.all(
      [1, 2, 3].map(() => skyhook(["token", "--email", "a@b.c"], { cwd })),
    );
    expect(made.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(new Set(made.map(({ out }) => textAt(claimsOf(out), "sub"))).size).toBe(1);
    expect(made.filter(({ err }) => err.includes("made user"))).toHaveLength(1);
    const key = readFileSync(join(cwd, "data/jwt_secret"), "utf8").trim();
    for (const { out } of made) {
      const [head = "", body = "", mac = ""] = out.trim().split(".");
      const expected = new Bun.CryptoHasher("sha256", key).update(`${head}.${body}`);
      expect(expected.digest("base64url")).toBe(mac);
    }
  });
});

function claimsOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

describe("skyhook send", () => {
  const all = catalogue.flatMap(({ id, samples }) =>
    Object.keys(samples).map((type) => [id, type] as const),
  );

  test("--list prints every pair", async () => {
    const { out, code } = await skyhook(["send", "--list"]);
    expect(out).toBe(all.map((pair) => `${pair.join(" ")}\n`).join(""));
    expect(code).toBe(0);
  });

  test.concurrent.each(all)("%s %s is accepted and listed", async (provider, type) => {
    const { out, err, code } = await beside("send", provider, type);
    const answer = answerIn(out);
    const { id, idempotencyKey } = answer;
    expect(answer).toMatchObject({ status: "accepted", event: type });
    expect(out).toStartWith(`200 accepted ${String(id)} ${String(idempotencyKey)}\n`);
    expect([err, code]).toEqual(["", 0]);

    const listed = await get(`/v1/events?provider=${provider}&type=${type}`, await operatorToken());
    const event = itemsAt(listed.body, "data").find((one) => at(one, "id") === id);
    expect(event).toMatchObject({ type, title: expect.stringMatching(/\S/) });
    if (!complete.includes(provider)) return;
    expect(event).toMatchObject({
      url: expect.stringMatching(/^https:/),
      actor: expect.stringMatching(/\S/),
    });
  });

  const tampered = catalogue.flatMap(({ id, signature, samples }) => {
    const [type = ""] = Object.keys(samples);
    const ways = [
      "signature",
      "body",
      ...(signature.signed === "timestamp-dot-raw" ? ["time"] : []),
    ];
    return ways.map((way) => [id, type, way] as const);
  });

  test.concurrent.each(tampered)("%s %s --tamper %s is refused", async (provider, type, way) => {
    const { out, code } = await beside("send", provider, type, "--tamper", way);
    expect(out).toStartWith("401 invalid-signature: ");
    expect(answerIn(out)).toMatchObject({ status: 401 });
    expect(code).toBe(1);
  });

  test("with the same --id is a duplicate", async () => {
    for (const { id, samples } of catalogue) {
      const [type = ""] = Object.keys(samples);
      const args = ["send", id, type, "--id", crypto.randomUUID()];
      const first = answerIn((await beside(...args)).out);
      const second = await beside(...args);
      expect(answerIn(second.out)).toEqual({ ...first, status: "duplicate" });
      expect(second.code).toBe(0);
    }
  });

  test("takes a secret and a server from the command line", async () => {
    const secret = ["--secret", secretOf("code_host")];
    const args = ["send", "code_host", "package.published", "--url", `${server.url}/`, ...secret];
    expect(await skyhook(args)).toMatchObject({ code: 0 });
    const wrong = await skyhook([...args, "--secret", "another"]);
    expect(wrong.out).toStartWith("401 ");
    expect(wrong.err).toContain("another secret");
    expect(wrong.err).toContain("or the clocks differ: the console's Refused says which");
    expect(wrong.code).toBe(1);
  });

  test("says what to do without a secret or a server", async () => {
    const without = await skyhook(["send", "shared_inbox", "message.sent"]);
    expect(without.err).toContain("set SHARED_INBOX_WEBHOOK_SECRET");
    expect(without.err).toContain("secrets/shared_inbox_webhook_secret");
    const alone = await skyhook(["send", "shared_inbox", "message.sent"], { env: allSecrets });
    expect(alone.err).toMatch(
      /^skyhook: http:\/\/127\.0\.0\.1:1 cannot be reached .*skyhook serve.*\n$/,
    );
    expect([without.code, alone.code]).toEqual([1, 1]);
  });
});

describe("skyhook verify", () => {
  const cwd = newFolder();
  const bytes = Buffer.from(
    JSON.stringify({ event_name: "item:completed", event_data: { id: "6X", content: "Größe 💡" } }),
  );
  const { signature } = providerOf("task_tracker");
  const mac = sign(signature, secretOf("task_tracker"), bytes, Date.now());
  const header = `X-TaskTracker-Hmac-SHA256: ${mac}`;

  /** Verifies `body` by way of a file. */
  async function verify(provider: string, body: string | Uint8Array, ...more: string[]) {
    const file = join(cwd, crypto.randomUUID());
    await Bun.write(file, body);
    return skyhook(["verify", provider, "--body", file, ...more], { cwd, env: allSecrets });
  }

  test("tells the verdict and the event, by the key that the server would give it", async () => {
    const { out, code } = await verify("task_tracker", bytes, "--header", header);
    expect(out).toContain("verified with the current secret");
    expect(out).toContain("type   task.completed\n");
    expect(out).toContain("title  Task completed: Größe 💡\n");
    expect(code).toBe(0);

    const url = `${server.url}/webhooks/task_tracker`;
    const headers = { "x-tasktracker-hmac-sha256": mac };
    const answer: unknown = await (
      await fetch(url, { method: "POST", body: bytes, headers })
    ).json();
    expect(out).toContain(`key    ${textAt(answer, "idempotencyKey")}\n`);

    const keyed = await verify(
      "task_tracker",
      bytes,
      "--header",
      header,
      "--header",
      "x-tasktracker-delivery-id: 7",
    );
    expect(keyed.out).toContain("key    task_tracker:7\n");
  });

  test("reads standard input and a file of headers, and tells the previous secret", async () => {
    await Bun.write(
      join(cwd, "headers"),
      `POST /webhooks/task_tracker HTTP/1.1\r\n${header}\r\n\r\n`,
    );
    const env = {
      TASK_TRACKER_WEBHOOK_SECRET: "a new secret of this year",
      TASK_TRACKER_WEBHOOK_SECRET_PREVIOUS: secretOf("task_tracker"),
    };
    const args = ["verify", "task_tracker", "--body", "-", "--headers-file", "headers"];
    const { out, code } = await skyhook(args, { cwd, env, input: bytes.toString() });
    expect(out).toContain("verified with the previous secret");
    expect(code).toBe(0);
  });

  test.concurrent.each([
    ["missing-signature", bytes, []],
    ["several-signatures", bytes, ["--header", header, "--header", header]],
    ["malformed-signature", bytes, ["--header", "x-tasktracker-hmac-sha256: 00ff"]],
    ["wrong-signature", bytes, ["--header", header, "--secret", "another"]],
    ["wrong-signature", Buffer.concat([bytes, Buffer.from("{}")]), ["--header", header]],
    ["unsupported-encoding", bytes, ["--header", header, "--header", "content-encoding: gzip"]],
    ["body-too-large", Buffer.alloc(5 * 1024 * 1024 + 1), ["--header", header]],
  ] as const)("names the reason %s", async (reason, body, more) => {
    const { out, err, code } = await verify("task_tracker", body, ...more);
    expect(out).toStartWith(`✗ ${reason}: `);
    expect(out).not.toContain("Found:");
    expect([err, code]).toEqual(["", 1]);
  });

  test.concurrent.each([
    [
      "a line break at the end",
      `${bytes.toString()}\n`,
      secretOf("task_tracker"),
      "without the line break",
    ],
    [
      "formatting",
      JSON.stringify(JSON.parse(bytes.toString()), null, 2),
      secretOf("task_tracker"),
      "as compact JSON",
    ],
    ["white space around the secret", bytes, `${secretOf("task_tracker")} `, "around the secret"],
  ] as const)("finds %s", async (_, body, secret, cause) => {
    const { out, code } = await verify(
      "task_tracker",
      body,
      "--header",
      header,
      "--secret",
      secret,
    );
    expect(out).toMatch(new RegExp(`Found: It verifies .*${cause}`));
    expect(code).toBe(1);
  });

  test("finds the secret of another provider, whatever the state of the others", async () => {
    const args = ["verify", "task_tracker", "--body", "-", "--header", header];
    const env = {
      TASK_TRACKER_WEBHOOK_SECRET: "a secret that did not sign it",
      CODE_HOST_WEBHOOK_SECRET: secretOf("task_tracker"),
      DEPLOY_PLATFORM_WEBHOOK_SECRET: "",
    };
    const { out, err, code } = await skyhook(args, { cwd, env, input: bytes.toString() });
    expect(out).toContain("Found: It verifies with the secret of Code host");
    expect([err, code]).toEqual(["", 1]);
  });

  test("knows the time of a delivery that was kept, and other kinds of webhooks", async () => {
    const sent = Date.UTC(2026, 0, 1);
    const timed = sign(providerOf("payment_processor").signature, "whsec_x", bytes, sent);
    const args = ["--header", `stripe-signature: ${timed}`, "--secret", "whsec_x"];
    const [late, then, foreign] = await Promise.all([
      verify("payment_processor", bytes, ...args),
      verify("payment_processor", bytes, ...args, "--at", "2026-01-01T01:04:00+01:00"),
      verify(
        "shared_inbox",
        bytes,
        "--header",
        "x-front-request-timestamp: 1",
        "--header",
        "x-front-signature: 1",
      ),
    ]);
    expect(late.out).toStartWith("✗ stale-timestamp: ");
    expect(late.out).toMatch(/Found: The signature is right, but it was made \d+ s before/);
    expect(then).toMatchObject({ out: expect.stringContaining("✓ verified"), code: 0 });
    expect(foreign.out).toStartWith("✗ unsupported-scheme: ");
  });

  test("says when verified bytes are no JSON, and when there are none", async () => {
    const text = Buffer.from("hello");
    const mark = sign(signature, secretOf("task_tracker"), text, 0);
    const plain = await verify(
      "task_tracker",
      text,
      "--header",
      `x-tasktracker-hmac-sha256: ${mark}`,
    );
    expect(plain.out).toContain("answers 400");
    const none = await skyhook(["verify", "task_tracker", "--body", "none"], { env: allSecrets });
    expect(none.err).toContain("There is no file none");
    expect(none.code).toBe(1);
  });
});

describe("skyhook replay", () => {
  test("has the server notify again", async () => {
    const { id } = answerIn((await beside("send", "deploy_platform", "deploy.error")).out);
    const { out, err, code } = await beside("replay", String(id));
    expect(out).toStartWith(`replayed ${String(id)} deploy.error: Deploy of web`);
    const [made = ""] = out.match(/ntf_[0-9a-f]+/g) ?? [];
    expect(out.match(/ntf_/g)).toHaveLength(1);
    expect([err, code]).toEqual(["", 0]);
    const { body } = await get(`/v1/events/${String(id)}`, await operatorToken());
    const ids = itemsAt(body, "notifications").map((one) => textAt(one, "id"));
    expect(ids).toHaveLength(2);
    expect(ids).toContain(made);
  });

  test("has all that was not delivered sent again, and doctor tells of it before", async () => {
    let status = 500;
    const gateway = testGateway(() => new Response(null, { status }));
    const own = await serve({
      env: {
        ...allSecrets,
        OPERATOR_GATEWAY_URL: gateway.url,
        OPERATOR_GATEWAY_SECRET: gatewaySecret,
      },
    });
    try {
      for (const event of ["task.created", "task.completed"]) {
        await skyhook(["send", "task_tracker", event], own);
      }
      await until(() => gateway.received.length === 2);
      await until(async () =>
        (await skyhook(["doctor"], own)).out.includes("2 wait for another try, the oldest from"),
      );
      status = 200;
      const { out, err, code } = await skyhook(["replay", "--undelivered"], own);
      expect(out.match(/^replayed evt_/gm)).toHaveLength(2);
      expect(out).toEndWith("\n2 events replayed\n");
      expect([err, code]).toEqual(["", 0]);
      await until(() => gateway.received.length === 4);
      const ids = gateway.received.map(({ headers }) => headers["webhook-id"]);
      expect(new Set(ids).size).toBe(2);
      await until(async () =>
        (await skyhook(["replay", "--undelivered"], own)).out.startsWith("every notification has"),
      );
      expect((await skyhook(["doctor"], own)).out).toMatch(/✓ +notifications +none has failed/);
    } finally {
      await own.stop();
      await gateway.stop();
    }
  });

  test("goes on behind an event that is gone, and takes the largest", async () => {
    const gateway = testGateway(() => new Response(null, { status: 500 }));
    const env = { OPERATOR_GATEWAY_URL: gateway.url, OPERATOR_GATEWAY_SECRET: gatewaySecret };
    const own = await serve({ env: { ...allSecrets, ...env } });
    try {
      const gone = answerIn((await skyhook(["send", "task_tracker", "task.created"], own)).out);
      const { signature, samples } = providerOf("code_host");
      const made = samples["package.published"]?.({ id: crypto.randomUUID(), now: new Date() });
      const body = Buffer.from(JSON.stringify({ ...made?.body, pad: "x".repeat(9 * 2 ** 20) }));
      const signed = sign(signature, secretOf("code_host"), body, Date.now());
      const headers = { ...made?.headers, [signature.headers[0] ?? ""]: signed };
      const url = `${own.url}/webhooks/code_host`;
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
      await until(async () => (await skyhook(["doctor"], own)).out.includes("2 wait for another"));
      using database = new Database(join(own.cwd, "data/skyhook.db"));
      database.run("delete from events where id = ?", [String(gone["id"])]);
      const { out, err, code } = await skyhook(["replay", "--undelivered"], own);
      expect(out).toContain("package.published");
      expect(out).toEndWith("\n1 event replayed\n");
      expect(err).toStartWith(`not replayed ${String(gone["id"])}: The server answers 404`);
      expect(err).toEndWith("skyhook: 1 event not replayed: each is named above\n");
      expect(code).toBe(1);
    } finally {
      await own.stop();
      await gateway.stop();
    }
  });

  test("says what is wrong", async () => {
    const stranger = { JWT_SECRET: "another key of thirty-two bytes!", PORT: server.env.PORT };
    const [missing, keyless, strange, alone] = await Promise.all([
      beside("replay", "evt_0"),
      skyhook(["replay", "evt_0"], { env: { PORT: server.env.PORT } }),
      skyhook(["replay", "evt_0"], { env: stranger }),
      skyhook(["replay", "evt_0", "--url", "http://127.0.0.1:1"], { cwd: server.cwd }),
    ]);
    expect(missing.err).toBe(
      oneLine("The server answers 404 not-found: There is no event of this id"),
    );
    expect(keyless.err).toContain("no signing key in ./data");
    expect(strange.err).toContain("another signing key");
    expect(alone.err).toContain("cannot be reached");
    for (const { code, out } of [missing, keyless, strange, alone])
      expect([out, code]).toEqual(["", 1]);
  });
});

describe("skyhook register", () => {
  const asked: { url: string; authorization: string | null; body: unknown }[] = [];
  let answer: () => Response = () => new Response();
  const platform = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const authorization = request.headers.get("authorization");
      asked.push({ url: pathname, authorization, body: await request.json() });
      return answer();
    },
  });
  afterAll(() => platform.stop(true));

  const api = platform.url.origin;
  const base = ["register", "deploy_platform", "--url", "https://hooks.example.com/", "--api-url"];
  const events = ["created", "succeeded", "error", "canceled"].map((what) => `deployment.${what}`);
  const url = "https://hooks.example.com/webhooks/deploy_platform";
  const register = (cwd: string, env: Record<string, string> = {}) =>
    skyhook([...base, api], { cwd, env: { DEPLOY_API_TOKEN: "tkn_1", ...env } });

  test("makes the webhook, stores its secret unseen, and keeps the one before", async () => {
    const cwd = newFolder();
    answer = () => Response.json({ id: "hook_1", secret: "first-secret-of-the-platform" });
    const first = await register(cwd);
    expect(asked.at(-1)).toEqual({
      url: "/v1/webhooks",
      authorization: "Bearer tkn_1",
      body: { url, events },
    });
    expect(first).toMatchObject({ err: "", code: 0 });
    expect(first.out).toContain("registered hook_1\n");
    expect(first.out).not.toContain("before");
    const store = secretStore({}, join(cwd, "secrets"));
    const file = join(cwd, "secrets/deploy_platform_webhook_secret");
    expect(statSync(file).mode & 0o777).toBe(0o600);

    answer = () => Response.json({ id: "hook_2", secret: "second-secret-of-the-platform" });
    const second = await register(cwd, { DEPLOY_PLATFORM_WEBHOOK_SECRET: "set" });
    expect(store.webhookSecrets("deploy_platform")).toEqual({
      current: "second-secret-of-the-platform",
      previous: "first-secret-of-the-platform",
    });
    expect(second.out).toContain("still accepted");
    expect(second.err).toContain("wins over the file");
    for (const { out, err } of [first, second]) expect(out + err).not.toMatch(/-secret-of-|tkn_1/);
  });

  test("--dry-run shows the request without the token and sends nothing", async () => {
    const before = asked.length;
    const whole = ["register", "deploy_platform", "--url", url, "--api-url", api];
    const { out, code } = await skyhook([...whole, "--token", "tkn_2", "--dry-run"]);
    expect(out).toBe(
      `POST ${api}/v1/webhooks\nAuthorization: Bearer <token>\nContent-Type: application/json\n\n${JSON.stringify({ url, events })}\n`,
    );
    expect(code).toBe(0);
    expect(asked).toHaveLength(before);
  });

  test.each([
    [
      "401",
      () => Response.json({ error: { message: "Not authorized" } }, { status: 401 }),
      "refuses the token (401: Not authorized)",
    ],
    ["403", () => Response.json({}, { status: 403 }), "paid plan"],
    [
      "a redirect",
      () => Response.redirect("https://elsewhere.example/v1"),
      "https://elsewhere.example/v1: give that",
    ],
    ["404", () => new Response("no such page", { status: 404 }), "404 (no such page)"],
    ["500", () => new Response("broken\u001b[31m", { status: 500 }), "answers 500: broken"],
    ["no JSON", () => new Response("<html>"), "no JSON object"],
    ["no secret", () => Response.json({ id: "hook_3" }), "has no secret"],
  ])("explains %s, and stores nothing", async (_, respond, said) => {
    const cwd = newFolder();
    answer = respond;
    const { out, err, code } = await register(cwd);
    expect(err).toContain(said);
    expect(err).not.toContain("tkn_1");
    expect(err).not.toContain("\u001b");
    expect([out, code]).toEqual(["", 1]);
    expect(existsSync(join(cwd, "secrets/deploy_platform_webhook_secret"))).toBe(false);
  });

  test("calls nobody without a token, a folder, a safe address or a call to make", async () => {
    const before = asked.length;
    const cwd = newFolder();
    await Bun.write(join(cwd, "secrets"), "a file where the folder should be");
    const by = (...args: string[]) => skyhook(["register", ...args, "--url", "https://h.example"]);
    const [tokenless, folderless, plain, manual, strange] = await Promise.all([
      skyhook([...base, api]),
      register(cwd),
      by("deploy_platform", "--api-url", "http://api.example"),
      by("code_host", "--api-url", "https://api.example"),
      skyhook([...base, api, "--token", "tkn\n1"]),
    ]);
    expect(tokenless).toMatchObject({ err: expect.stringContaining("DEPLOY_API_TOKEN"), code: 2 });
    expect(folderless).toMatchObject({
      err: expect.stringContaining("nothing was registered"),
      code: 1,
    });
    expect(plain).toMatchObject({ err: expect.stringContaining("must be https"), code: 2 });
    expect(manual).toMatchObject({ err: expect.stringContaining("webhook settings"), code: 2 });
    expect(strange).toMatchObject({ err: expect.stringContaining("of no token"), code: 2 });
    expect(asked).toHaveLength(before);
  });

  test("says that a provider cannot be registered before it asks where", async () => {
    const [inbox, processor, nowhere] = await Promise.all([
      skyhook(["register", "shared_inbox"]),
      skyhook(["register", "payment_processor"]),
      skyhook(["register", "deploy_platform", "--url", "https://h.example"]),
    ]);
    expect(inbox.err).toContain('use a rule with the action "trigger a webhook"');
    expect(processor.err).toContain("make the webhook in its own settings");
    expect(nowhere.err).toContain("--api-url <url> is needed");
    for (const { code } of [inbox, processor, nowhere]) expect(code).toBe(2);
  });
});

describe("skyhook doctor", () => {
  const marks = (out: string) =>
    [...out.matchAll(/^([✓!✗]) +(\S.*?) {2,}/gm)].map(([, mark, about]) => `${mark} ${about}`);

  test("finds nothing to repair beside a server that runs", async () => {
    await beside("send", "task_tracker", "task.completed");
    const { out, err, code } = await beside("doctor");
    expect(out).not.toMatch(/[!✗]/);
    expect(out).toMatch(/last task_tracker +(?:\d+ s ago|just now), task\./);
    expect(out).toMatch(/has the current schema and takes writes/);
    expect(out).toMatch(/\/readyz answers/);
    expect(out).not.toContain("secret of task_tracker");
    expect([err, code]).toEqual(["", 0]);
  });

  test("changes nothing where nothing has been made yet", async () => {
    const cwd = newFolder();
    const { out, code } = await skyhook(["doctor"], { cwd, env: everything });
    expect(marks(out)).toEqual(expect.arrayContaining(["! data folder", "! database", "! server"]));
    expect(out.match(/is not made yet/g)).toHaveLength(2);
    expect(code).toBe(0);
    expect([...new Bun.Glob("**").scanSync({ cwd, onlyFiles: false, dot: true })]).toEqual([]);
  });

  test("leaves the database as it was", async () => {
    const cwd = newFolder();
    await skyhook(["token", "--email", "a@b.c"], { cwd });
    await skyhook(["doctor"], { cwd });
    const database = new Database(join(cwd, "data/skyhook.db"));
    expect(database.query("select email from users").all()).toEqual([{ email: "a@b.c" }]);
    database.close();
  });

  test("names every secret that is missing or odd, and tells none", async () => {
    const cwd = newFolder();
    const file = join(cwd, "secrets/shared_inbox_webhook_secret");
    await Bun.write(file, "same-secret-at-two-providers");
    chmodSync(file, 0o644);
    const env = {
      WEBHOOK_PROVIDERS: everything.WEBHOOK_PROVIDERS,
      TASK_TRACKER_WEBHOOK_SECRET: " hunter2-hunter2-hunter2",
      DEPLOY_PLATFORM_WEBHOOK_SECRET: "same-secret-at-two-providers",
      CODE_HOST_WEBHOOK_SECRET: "",
      PAYMENT_PROCESSOR_WEBHOOK_SECRET: "short",
    };
    const { out, code } = await skyhook(["doctor"], { cwd, env });
    expect(out).toMatch(/! +task_tracker .*white space around it/);
    expect(out).toMatch(/! +shared_inbox .*chmod 600 secrets/);
    expect(out).toMatch(/! +shared_inbox .*same secret as deploy_platform/);
    expect(out).toMatch(/✗ +code_host .*is empty/);
    expect(out).toMatch(/! +payment_processor .*fewer than 16/);
    expect(out).toMatch(/! +payment_processor .*whsec_/);
    expect(out).not.toMatch(/hunter2|same-secret|short\b/);
    expect(code).toBe(1);
    const none = await skyhook(["doctor"]);
    expect(marks(none.out)).toEqual(expect.arrayContaining(["✗ task_tracker", "✗ code_host"]));
    expect(none.code).toBe(1);
  });

  test("finds a wrong setting, folder, key, clock, database and server", async () => {
    const cwd = newFolder();
    await Bun.write(
      join(cwd, "none.db"),
      "This is no database, but a long enough text. ".repeat(40),
    );
    await Bun.write(join(cwd, "data/jwt_secret"), "short");
    new Database(join(cwd, "older.db"), { create: true }).run("create table t (a)");
    await skyhook(["token", "--email", "a@b.c"], { cwd, env: { DATA_DIR: "ahead" } });
    const ahead = new Database(join(cwd, "ahead/skyhook.db"));
    ahead.run(
      "insert into events (id, provider, type, status, idempotency_key, occurred_at, created_at, title, data, body_bytes, duplicates) values ('evt_1', 'code_host', 'push', 'ignored', 'code_host:1', ?1, ?1, 't', '{}', 0, 0)",
      [Date.now() + 3_600_000],
    );
    ahead.close();
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hi") });
    const run = (env: Record<string, string>) =>
      skyhook(["doctor"], { cwd, env: { ...allSecrets, ...env } });
    const [setting, unreadable, folderless, older, future, occupied] = await Promise.all([
      run({ PORT: "many" }),
      run({ DATABASE_URL: "sqlite:none.db" }),
      run({ DATA_DIR: "none.db" }),
      run({ DATA_DIR: "new", DATABASE_URL: "sqlite:older.db" }),
      run({ DATA_DIR: "ahead" }),
      run({ DATA_DIR: "new", PORT: String(other.port) }),
    ]);
    await other.stop();
    expect(marks(setting.out)).toEqual(["✗ configuration"]);
    expect(marks(unreadable.out)).toEqual(expect.arrayContaining(["✗ database", "✗ token key"]));
    expect(marks(folderless.out)).toContain("✗ data folder");
    expect(older).toMatchObject({
      out: expect.stringMatching(/! +database .*0001_initial/),
      code: 0,
    });
    expect(marks(future.out)).toContain("✗ clock");
    expect(occupied.out).toMatch(/✗ +server .*another program answers/);
    for (const { code, err } of [setting, unreadable, folderless, future, occupied])
      expect([err, code]).toEqual(["", 1]);
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
