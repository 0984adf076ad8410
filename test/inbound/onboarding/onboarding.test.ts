// Takes seconds: parses each file of the catalogue twice, as a server does that adds it and loads it.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  catalogueFile,
  catalogueFiles,
} from "../../../src/inbound/providers/files/catalogue-files.ts";
import { readProvider } from "../../../src/inbound/providers/files/folder.ts";
import { hasSharedSecret } from "../../../src/inbound/signatures/scheme.ts";
import {
  isDocumentedSecret,
  leastSecretLength,
} from "../../../src/inbound/signatures/weak-secret.ts";
import { json, jsonWith, startApp, type TestApp, testSecret } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { listed } from "../../support/operator.ts";
import { runs } from "../../support/runs.ts";
import { postSigned } from "../../support/signed-request.ts";

const path = "/v1/providers";
const secret = "0b4d1e6a97c85f3272e8d90a41c6b35f";

let root: string;
let providersDir: string;
let secretsDir: string;
let app: TestApp;

async function start(env: Record<string, string> = {}) {
  app = await startApp({ PROVIDERS_DIR: providersDir, ...env }, undefined, { secretsDir });
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "skyhook-onboarding-"));
  [providersDir, secretsDir] = [join(root, "providers"), join(root, "secrets")];
  await start();
});
afterEach(async () => {
  await app.stop();
  rmSync(root, { recursive: true });
});

const add = (body: unknown) => app.as("admin", path, post(body));
const put = (id: string, body: unknown) =>
  app.as("admin", `${path}/${id}/secret`, { ...post(body), method: "PUT" });
const tested = (id: string, body: unknown = {}) =>
  app.as("admin", `${path}/${id}/test`, post(body));
const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
const nothing = () => expect([filesIn(providersDir), filesIn(secretsDir)]).toEqual([[], []]);

/** The secrets that our recorded deliveries publish. */
const fixtures = join(import.meta.dir, "../providers/oracles/fixtures");
const fixtureSecrets = readdirSync(fixtures).flatMap((file): [string, string][] => {
  const name = file.replace(".json", "");
  const recorded: unknown = JSON.parse(readFileSync(join(fixtures, file), "utf8"));
  const { signature } = catalogueFile(catalogueFiles[name] ?? "");
  return hasSharedSecret(signature) ? [[name, String(Object(recorded).secret)]] : [];
});

/** Posts a sample as the service would, signed with a secret. */
async function delivered(id: string, given: string, event: string): Promise<number> {
  const provider = readProvider(id, join(providersDir, `${id}.yaml`));
  return (await postSigned(app, provider, { secret: given }, event)).status;
}

/** The status and the errors of a response. */
async function problemOf(response: Response) {
  const { detail, errors } = await json(response);
  return { status: response.status, detail, errors };
}

test.each(["user", "operator"] as const)("the role %s gets 403 everywhere", async (role) => {
  const calls = [
    [`${path}/catalogue`],
    [`${path}/code_host`],
    [path, post({ catalogue: "slack" })],
    [`${path}/code_host/secret`, { ...post({ makeSecret: true }), method: "PUT" }],
    [`${path}/code_host/test`, post({})],
  ] as const;
  for (const [at, init] of calls) {
    expect([at, (await app.as(role, at, init)).status]).toEqual([at, 403]);
  }
  nothing();
});

test("the catalogue lists every service, by its name for people", async () => {
  const { data, publicUrl } = await json(await app.as("admin", `${path}/catalogue`));
  expect([publicUrl, JSON.stringify(data).includes('"category":null')]).toEqual([null, false]);
  const names = Object.values(Object(data)).map((entry) => String(Object(entry).name));
  expect(names.toSorted()).toEqual(Object.keys(catalogueFiles).toSorted());
  expect(data).toContainEqual(
    expect.objectContaining({
      name: "slack",
      displayName: "Slack",
      category: "messages",
      settings: "https://api.slack.com/apps",
      signature: "HMAC-SHA256",
      secretKind: "shared",
      samples: expect.arrayContaining(["app_mention", "message"]),
    }),
  );
});

describe("adding a provider", () => {
  test("from the catalogue stores file and secret, and receives at once", async () => {
    const response = await add({ catalogue: "slack", secret: ` ${secret}\n` });
    expect(response.status).toBe(201);
    expect(response.headers.get("location")).toBe(`${path}/slack`);
    const made = await json(response);
    expect(made).toMatchObject({
      provider: "slack",
      path: "/webhooks/slack",
      url: null,
      hasSecret: true,
      canTest: true,
      madeSecret: null,
      file: join(providersDir, "slack.yaml"),
    });
    expect(JSON.stringify(made)).not.toContain(secret);
    expect(await json(await app.as("admin", `${path}/slack`))).toEqual(
      Object.fromEntries(Object.entries(made).filter(([name]) => name !== "madeSecret")),
    );
    expect(readFileSync(join(providersDir, "slack.yaml"), "utf8")).toEndWith(
      catalogueFiles["slack"] ?? "",
    );
    expect(filesIn(secretsDir)).toEqual(["slack_webhook_secret"]);
    const file = join(secretsDir, "slack_webhook_secret");
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([secret, 0o600]);
    expect(await delivered("slack", secret, "message")).toBe(200);
    expect(await delivered("slack", "another secret", "message")).toBe(401);
    const [entry] = await listed(app, "/v1/audit", "admin");
    expect(entry).toMatchObject({
      actor: "test-admin",
      action: "provider.added",
      subject: "slack",
      detail: "from the catalogue: slack",
    });
  });

  test("under another name, with a made secret that is shown once", async () => {
    const body = { catalogue: "standard_webhooks", id: "billing", makeSecret: true };
    const made = await json(await add(body));
    expect(made["madeSecret"]).toMatch(/^whsec_.{44}$/);
    const again = JSON.stringify([
      await json(await app.as("admin", `${path}/billing`)),
      await json(await app.as("admin", "/v1/audit")),
    ]);
    expect(again).not.toContain(String(made["madeSecret"]));
  });

  test("without a secret leaves it without one, and a stored one is used", async () => {
    expect(await json(await add({ catalogue: "linear" }))).toMatchObject({
      hasSecret: false,
      canTest: false,
    });
    mkdirSync(secretsDir, { recursive: true });
    writeFileSync(join(secretsDir, "slack_webhook_secret"), secret);
    const both = await problemOf(
      await add({ catalogue: "slack", secret: "another secret of Slack" }),
    );
    const said = expect.stringContaining("already stored");
    expect(both).toMatchObject({ status: 422, detail: said, errors: [{ pointer: "/secret" }] });
    expect(await json(await add({ catalogue: "slack" }))).toMatchObject({ hasSecret: true });
    expect(await delivered("slack", secret, "message")).toBe(200);
  });

  test("from a pasted file names each error with its line, and writes nothing", async () => {
    const file = (catalogueFiles["slack"] ?? "")
      .replace("kind: hmac", "kind: hmca")
      .replace("\nevents:", "\nevnts: {}\nevents:");
    const answer = await problemOf(await add({ file, id: "acme", secret }));
    expect(answer).toMatchObject({
      status: 422,
      errors: [
        { pointer: "/file", detail: expect.stringMatching(/^acme\.yaml:9: .*hmac/) },
        { pointer: "/file", detail: expect.stringMatching(/^acme\.yaml:\d+: "evnts" is unknown/) },
      ],
    });
    nothing();
    const right = await add({ file: catalogueFiles["slack"], id: "acme", secret });
    expect([right.status, filesIn(providersDir)]).toEqual([201, ["acme.yaml"]]);
  });

  test("rejects what is incomplete, contradictory or unsafe", async () => {
    const rows: readonly (readonly [string, object, string])[] = [
      ["neither catalogue nor file", {}, ""],
      ["both", { catalogue: "slack", file: "displayName: A", id: "a" }, ""],
      ["a file without a name", { file: "displayName: A" }, "/id"],
      ["an unknown service", { catalogue: "slak" }, "/catalogue"],
      ["an inherited key", { catalogue: "constructor" }, "/catalogue"],
      ["a path", { catalogue: "slack", id: "../slack" }, "/id"],
      ["an absolute path", { catalogue: "slack", id: "/tmp/slack" }, "/id"],
      ["an upper-case name", { catalogue: "slack", id: "Slack" }, "/id"],
      ["a name with a NUL", { catalogue: "slack", id: "slack\0" }, "/id"],
      ["a name with a line break", { catalogue: "slack", id: "slack\n" }, "/id"],
      ["a long name", { catalogue: "slack", id: "s".repeat(41) }, "/id"],
      ["a built-in provider", { catalogue: "slack", id: "code_host" }, "/id"],
      ["a reserved name", { catalogue: "slack", id: "bookings" }, "/id"],
      ["both secrets", { catalogue: "slack", secret, makeSecret: true }, "/secret"],
      ["a short secret", { catalogue: "slack", secret: " 15 characters! " }, "/secret"],
      ["an example", { catalogue: "slack", secret: "8f742231b10e8888abcd99yyyzzz85a5" }, "/secret"],
      ["another's secret", { catalogue: "slack", secret: testSecret("code_host") }, "/secret"],
      ["a blank secret", { catalogue: "slack", secret: " " }, "/secret"],
      ["a long secret", { catalogue: "slack", secret: "s".repeat(16_385) }, "/secret"],
      ["a secret of another form", { catalogue: "standard_webhooks", secret: "!" }, "/secret"],
      ["no public key", { catalogue: "discord", secret: "00" }, "/secret"],
      ["a made account", { catalogue: "paypal", makeSecret: true }, "/makeSecret"],
    ];
    for (const [what, body, pointer] of rows) {
      const answer = { what, ...(await problemOf(await add(body))) };
      expect(answer).toMatchObject({ what, status: 422, errors: [{ pointer }] });
    }
    nothing();
  });

  test("rejects wrong types, bodies that are too large and other formats", async () => {
    expect((await add({ catalogue: 7 })).status).toBe(400);
    expect((await add([])).status).toBe(400);
    expect((await add({ id: "a", file: "#".repeat(300_000) })).status).toBe(413);
    const text = { method: "POST", body: "a", headers: { "content-type": "text/plain" } };
    expect((await app.as("admin", path, text)).status).toBe(415);
    nothing();
  });

  test.each([".yaml", ".yml", ".json"])("keeps an existing %s file", async (ending) => {
    mkdirSync(providersDir);
    const file = join(providersDir, `slack${ending}`);
    writeFileSync(file, "# mine");
    const answer = await problemOf(await add({ catalogue: "slack", secret }));
    // The invalid file is found first.
    expect(answer.status).toBe(503);
    expect(readFileSync(file, "utf8")).toBe("# mine");
    expect(filesIn(secretsDir)).toEqual([]);
  });

  test("does not follow a link that another has put at the file's place", async () => {
    mkdirSync(providersDir);
    const target = join(root, "elsewhere");
    symlinkSync(target, join(providersDir, "slack.yaml"));
    const answer = await add({ catalogue: "slack", secret });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect([existsSync(target), filesIn(secretsDir)]).toEqual([false, []]);
  });

  test("twice is rejected, and changes nothing", async () => {
    await add({ catalogue: "slack", secret });
    const again = await problemOf(await add({ catalogue: "slack", secret: "another secret" }));
    expect(again).toMatchObject({ status: 422, detail: "slack is registered already" });
    const both = await Promise.all([add({ catalogue: "zoom" }), add({ catalogue: "zoom" })]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 422]));
    expect(await delivered("slack", secret, "message")).toBe(200);
  });

  test.each([
    ["PROVIDERS_DIR", () => providersDir],
    ["SECRETS_DIR", () => secretsDir],
  ])(
    "says that the folder of %s cannot be written, and leaves nothing behind",
    async (name, of) => {
      // A file in the folder's place: as root, a mode would not prevent the write.
      writeFileSync(of(), "");
      const answer = await problemOf(await add({ catalogue: "slack", secret }));
      expect(answer).toMatchObject({
        status: 503,
        detail: expect.stringContaining(`The folder of ${name} cannot be written`),
      });
      expect(readdirSync(root).filter((each) => join(root, each) !== of())).toEqual(
        name === "PROVIDERS_DIR" ? ["secrets"] : [],
      );
      expect(name === "PROVIDERS_DIR" ? filesIn(secretsDir) : []).toEqual([]);
      expect((await app.fetch("/webhooks/slack", post({}))).status).toBe(404);
    },
  );

  test("does nothing while another file is invalid, and names it", async () => {
    mkdirSync(providersDir);
    writeFileSync(join(providersDir, "broken.yaml"), "displayName: 7");
    const answer = await problemOf(await add({ catalogue: "slack", secret }));
    expect(answer.status).toBe(503);
    expect(answer.detail).toContain("broken.yaml:1:");
    expect([filesIn(providersDir), filesIn(secretsDir)]).toEqual([["broken.yaml"], []]);
  });
});

describe("a provider's secret", () => {
  test("is replaced, and the former one stays accepted", async () => {
    await add({ catalogue: "slack", secret });
    const response = await put("slack", { secret: "a second secret of Slack" });
    expect([response.status, (await json(response))["madeSecret"]]).toEqual([200, null]);
    expect(await delivered("slack", "a second secret of Slack", "message")).toBe(200);
    expect(await delivered("slack", secret, "message")).toBe(200);
    const made = String((await json(await put("slack", { makeSecret: true })))["madeSecret"]);
    expect(await delivered("slack", made, "message")).toBe(200);
    expect(await delivered("slack", secret, "message")).toBe(401);
    const entries = await listed(app, "/v1/audit", "admin");
    expect(entries.map(({ action }) => action)).toEqual([
      "provider.secret_changed",
      "provider.secret_changed",
      "provider.added",
    ]);
    expect(JSON.stringify(entries)).not.toContain(made);
  });

  test("that was made is in one answer only, which nothing may store", async () => {
    await add({ catalogue: "slack", secret });
    const headers = { "idempotency-key": "0193a5c0-7b1e-4c3a-8e21-d4f60b7a9c55" };
    const made: string[] = [];
    for (let times = 0; times < 2; times += 1) {
      const init = post({ makeSecret: true });
      const response = await app.as("admin", `${path}/slack/secret`, {
        ...init,
        method: "PUT",
        headers: { ...Object(init.headers), ...headers },
      });
      expect(response.headers.get("cache-control")).toBe("no-store");
      made.push(String((await json(response))["madeSecret"]));
    }
    expect(made[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(made[1]).not.toBe(made[0] ?? "");
    const others = [await app.as("admin", `${path}/slack`), await app.as("admin", "/v1/audit")];
    for (const response of others) {
      const text = await response.text();
      for (const one of made) expect(text).not.toContain(one);
    }
  });

  test("is not replaced while a variable keeps it from staying accepted", async () => {
    await add({ catalogue: "slack", secret });
    await app.stop();
    await start({ SLACK_WEBHOOK_SECRET_PREVIOUS: "the secret before that of Slack" });
    const answer = await problemOf(await put("slack", { makeSecret: true }));
    expect(answer).toMatchObject({ status: 422, errors: [{ pointer: "/secret" }] });
    expect(answer.detail).toContain("SLACK_WEBHOOK_SECRET_PREVIOUS");
    expect(await delivered("slack", secret, "message")).toBe(200);
    expect(filesIn(secretsDir)).toEqual(["slack_webhook_secret"]);
  });

  test("is not stored if it cannot be used, or would not be", async () => {
    await add({ catalogue: "slack", secret });
    for (const body of [{}, { secret: "" }, { secret: "a", makeSecret: true }]) {
      expect((await put("slack", body)).status).toBe(422);
    }
    expect((await put("nobody", { secret })).status).toBe(404);
    const set = await problemOf(await put("code_host", { secret: "another secret" }));
    expect(set).toMatchObject({ status: 422 });
    expect(set.detail).toContain("CODE_HOST_WEBHOOK_SECRET");
    expect(filesIn(secretsDir)).toEqual(["slack_webhook_secret"]);
  });
});

describe("a secret that others can guess or know", () => {
  test("is rejected with what to do, wherever it is entered", async () => {
    await add({ catalogue: "slack", secret });
    const refused = async (given: string) => {
      const answer = await problemOf(await put("slack", { secret: given }));
      expect(answer).toMatchObject({ status: 422, errors: [{ pointer: "/secret" }] });
      return answer.detail;
    };
    expect(await refused("15 characters!!")).toBe(
      "The secret has fewer than 16 characters, so it can be guessed. Create another one at Slack, or let Skyhook make one and enter it there.",
    );
    expect(await refused("It's a Secret to Everybody")).toBe(
      "The secret is an example from documentation, so anyone can sign with it. Paste the one that Slack shows for your webhook.",
    );
    expect(await refused(testSecret("code_host"))).toContain("(code_host) has the same secret");
    expect(filesIn(secretsDir)).toEqual(["slack_webhook_secret"]);
    expect((await put("slack", { secret })).status).toBe(200);
    expect((await put("slack", { secret: "16 characters!!!" })).status).toBe(200);
  });

  test("is also the previous one of another provider", async () => {
    await add({ catalogue: "slack", secret });
    await put("slack", { secret: "a second secret of Slack" });
    expect((await add({ catalogue: "zoom", secret })).status).toBe(422);
    expect((await add({ catalogue: "zoom", secret: "a secret of Zoom only" })).status).toBe(201);
  });

  test("is that of any fixture", () => {
    const isWeak = (given: string) => given.length < leastSecretLength || isDocumentedSecret(given);
    expect(fixtureSecrets).not.toBeEmpty();
    expect(fixtureSecrets.filter(([, given]) => !isWeak(given))).toEqual([]);
  });

  test("is no matter for a public key, which anyone may know", async () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    const key = publicKey.export({ format: "pem", type: "spki" });
    for (const id of ["discord", "discord_eu"]) {
      expect((await add({ catalogue: "discord", id, secret: key })).status).toBe(201);
    }
  });
});

describe("a second replacement", () => {
  const first = { secret: "the first secret of Slack" };
  const second = { secret: "the second secret of Slack" };

  test("keeps the secret that the service still signs with", async () => {
    await add({ catalogue: "slack", secret });
    expect(await delivered("slack", secret, "message")).toBe(200);
    for (const body of [first, second]) {
      app.clock.advance(1_000);
      expect((await put("slack", body)).status).toBe(200);
      // Skyhook signs it, so it does not show what the service signs with.
      expect((await tested("slack")).status).toBe(200);
    }
    const status = (given: string) => delivered("slack", given, "message");
    expect(await status(first.secret)).toBe(401);
    expect(await status(secret)).toBe(200);
    expect(await status(second.secret)).toBe(200);
  });

  test("drops the oldest secret once the service signs with the next", async () => {
    await add({ catalogue: "slack", secret });
    expect(await delivered("slack", secret, "message")).toBe(200);
    await put("slack", first);
    app.clock.advance(1_000);
    expect(await delivered("slack", first.secret, "message")).toBe(200);
    const { verifiedAt } = await json(await app.as("admin", `${path}/slack`));
    expect(Date.parse(String(verifiedAt))).toBe(app.clock.now());
    await put("slack", second);
    expect(await delivered("slack", first.secret, "message")).toBe(200);
    expect(await delivered("slack", secret, "message")).toBe(401);
  });
});

describe("a test event", () => {
  test("is signed, verified and stored like any other", async () => {
    await add({ catalogue: "slack", secret });
    const answer = await tested("slack", { event: "channel_archive" });
    const { id, status, event } = await jsonWith(answer, 200);
    expect([status, event]).toEqual(["accepted", "channel.archived"]);
    expect((await listed(app, "/v1/events?provider=slack"))[0]).toMatchObject({ id });
    expect((await json(await tested("slack")))["event"]).toBe("mention.received");
    const [entry] = await listed(app, "/v1/audit", "admin");
    expect(entry).toMatchObject({ action: "provider.tested", subject: "slack" });
  });

  test("of a built-in provider, and of one that signs the public URL", async () => {
    expect((await tested("code_host")).status).toBe(200);
    await app.stop();
    await start({ PUBLIC_URL: "https://hooks.example.com" });
    const made = await json(await add({ catalogue: "twilio", makeSecret: true }));
    expect(made["url"]).toBe("https://hooks.example.com/webhooks/twilio");
    expect((await tested("twilio")).status).toBe(200);
  });

  test("is signed with a made pair of keys, but not once the service's keys have replaced it", async () => {
    await add({ catalogue: "discord", makeSecret: true });
    expect((await tested("discord")).status).toBe(200);
    // The first replaces the test key, which stays accepted; the second ends that.
    for (const status of [200, 422]) {
      const { publicKey } = generateKeyPairSync("ed25519");
      const pem = publicKey.export({ format: "pem", type: "spki" });
      expect((await put("discord", { secret: pem })).status).toBe(200);
      expect((await tested("discord")).status).toBe(status);
    }
    const answer = await problemOf(await tested("discord"));
    expect([answer.status, answer.detail]).toEqual([
      422,
      "Only the service can sign deliveries of discord. Send a test event from its own page.",
    ]);
    // Nothing was received, so nothing was rejected.
    expect(await listed(app, "/v1/rejections")).toEqual([]);
  });

  test("needs a secret, and a sample that there is", async () => {
    await add({ catalogue: "slack" });
    expect((await problemOf(await tested("slack"))).detail).toContain("has no secret");
    await put("slack", { secret });
    for (const event of ["constructor", "nothing"]) {
      const answer = await problemOf(await tested("slack", { event }));
      expect(answer).toMatchObject({ status: 422, errors: [{ pointer: "/event" }] });
    }
    expect((await tested("slack", { event: 7 })).status).toBe(400);
    expect((await tested("nobody")).status).toBe(404);
  });

  test("of each service of the catalogue arrives, if it can be signed here", async () => {
    for (const name of Object.keys(catalogueFiles)) {
      // Tests are limited for each caller.
      const send = (at: string, body: object) => app.as("admin", path + at, post(body), name);
      const made = await send("", { catalogue: name, makeSecret: true });
      // Their keys cannot be made here.
      const canMake = !["aws_sns", "google_pubsub", "paypal", "plaid"].includes(name);
      expect([name, made.status]).toEqual([name, canMake ? 201 : 422]);
      if (!canMake) continue;
      const { samples, canTest } = await json(made);
      expect([name, canTest]).toEqual([name, true]);
      expect(samples).not.toBeEmpty();
      const events = Object.values(Object(samples)).map(String);
      for (const event of events.slice(0, runs(events.length))) {
        const answer = await send(`/${name}/test`, { event });
        expect([name, event, answer.status]).toEqual([name, event, 200]);
        expect(["accepted", "ignored"]).toContain(String((await json(answer))["status"]));
      }
      // Each request that adds a provider reads all files.
      rmSync(join(providersDir, `${name}.yaml`));
    }
  });
});

test("a secret that cannot be tried on a rejected delivery is refused, and says why", async () => {
  const { publicKey } = generateKeyPairSync("ed25519");
  const key = publicKey.export({ type: "spki", format: "pem" }).toString();
  const signature = { "x-signature-ed25519": "ab".repeat(64), "x-signature-timestamp": "1" };
  const token = { "x-telegram-bot-api-secret-token": "f".repeat(32) };
  for (const [catalogue, given, headers, tried, detail] of [
    ["discord", key, signature, "no key", "must be an Ed25519 public key"],
    // Even with the right one, which is nowhere to compare it with.
    ["telegram", secret, token, "f".repeat(32), "The webhook contained its secret"],
  ] as const) {
    await jsonWith(await add({ catalogue, secret: given }), 201);
    expect((await app.fetch(`/webhooks/${catalogue}`, post({}, headers))).status).toBe(401);
    const [rejection] = await listed(app, `/v1/rejections?provider=${catalogue}&limit=1`);
    const to = `/v1/rejections/${String(rejection?.["id"])}/try-secret`;
    const refused = await jsonWith(await app.as("admin", to, post({ secret: tried })), 422);
    expect(refused["detail"]).toContain(detail);
  }
});
