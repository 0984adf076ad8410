import { describe, expect, setDefaultTimeout, test } from "bun:test";

import { SQL } from "bun";

import { systemClock } from "../../../../src/base/clock.ts";
import { sample, testSecret, until } from "../../../support/app.ts";
import type { TestGateway } from "../../../support/gateway.ts";
import { type FakeGithub, fakeGithub, type Post } from "../../../support/github.ts";
import { asOperator, keysListed, startIn } from "../../../support/load.ts";
import { itemsOf } from "../../../support/operator.ts";
import {
  type RunningServer,
  runSkyhook,
  spawnSkyhook,
  temporaryFolder,
} from "../../../support/program.ts";
import { randomNumbers } from "../../../support/random.ts";
import { published, settingsOf, statusIn, workflowRun } from "../../../support/reconcile.ts";
import { resources } from "../../../support/resources.ts";
import { fakeStripe } from "../../../support/stripe.ts";
import { databases } from "../../harness/databases.ts";

// Each wait has its own time limit. This is a margin for busy machines.
setDefaultTimeout(120_000);
const patienceMs = 60_000;

const taken = resources();

/** A database, an operator gateway, and the environment of the processes between them. */
class Installation {
  server: RunningServer | null = null;

  private constructor(
    readonly folder: string,
    readonly databaseUrl: string,
    readonly gateway: TestGateway,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  static async open(
    kind: ReturnType<typeof databases>[number],
    env: Readonly<Record<string, string>>,
  ): Promise<Installation> {
    const folder = taken.newFolder();
    const database = await kind.make(folder);
    taken.ends.push(() => database.remove());
    const gateway = taken.gateway();
    const opened = new Installation(folder, database.url, gateway, {
      DATABASE_URL: database.url,
      ...gateway.env,
      WEBHOOK_PROVIDERS: "code_host,payment_processor",
      CODE_HOST_WEBHOOK_SECRET: testSecret("code_host"),
      PAYMENT_PROCESSOR_WEBHOOK_SECRET: testSecret("payment_processor"),
      LOG_FORMAT: "json",
      ...env,
    });
    taken.ends.push(() => opened.kill());
    return opened;
  }

  async start(): Promise<RunningServer> {
    return (this.server = await startIn(this.folder, this.env));
  }

  async kill(): Promise<void> {
    await this.server?.kill();
    this.server = null;
  }

  get surroundings() {
    return this.server ?? { cwd: this.folder, env: { ...this.env, PORT: "1" } };
  }

  run(...args: readonly string[]) {
    return runSkyhook(args, this.surroundings);
  }

  /** Ends the leases of dead processes, which would last for 30 s. */
  async endLeases(): Promise<void> {
    const sql = new SQL(this.databaseUrl);
    if (this.databaseUrl.startsWith("sqlite:")) await sql.unsafe("pragma busy_timeout = 5000");
    await sql.unsafe("update reconciliations set leased_until = 0");
    // A living server may be sending these.
    if (this.server === null) {
      await sql.unsafe("update deliveries set leased_until = 0 where leased_until is not null");
    }
    await sql.close();
  }

  /** Posts to the running server. Null without a response. */
  post(provider: string): Post {
    return async (body, headers) => {
      try {
        const url = `${this.server?.url ?? "http://127.0.0.1:1"}/webhooks/${provider}`;
        return (await fetch(url, { method: "POST", body, headers })).status;
      } catch {
        return null;
      }
    };
  }

  /** Expects exactly these events, and one notification of each at the gateway. */
  async expectEachOnce(keys: readonly string[], { mayRepeat = false } = {}): Promise<void> {
    const { server, gateway } = this;
    if (server === null) throw new Error("No server is running");
    expect((await keysListed(server)).toSorted()).toEqual(keys.toSorted());
    const undelivered = async (status: string) => {
      const { data }: { data: unknown } = JSON.parse(
        await (await asOperator(server, `/v1/notifications?status=${status}`)).text(),
      );
      return itemsOf(data).length;
    };
    await until(
      async () => (await undelivered("pending")) + (await undelivered("retrying")) === 0,
      patienceMs,
    );
    const sent = gateway.received.map(({ headers, body }) => {
      const { idempotencykey }: { idempotencykey: string } = JSON.parse(body);
      return { key: idempotencykey, id: headers["webhook-id"] };
    });
    // A process that dies while it sends cannot know whether that arrived: it repeats the id.
    const once = mayRepeat ? [...new Map(sent.map((one) => [one.id, one])).values()] : sent;
    expect(once.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  }
}

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));
console.log(`Choices of this run: SEED=${seed}`);
const random = randomNumbers(seed);

/** Half of the deliveries do not arrive: the connection fails, a proxy answers, or the response is lost. */
function droppingHalf(arrives: Post): Post {
  return async (body, headers) => {
    if (random() < 0.5) return arrives(body, headers);
    const kind = Math.floor(random() * 4);
    if (kind === 3) {
      await arrives(body, headers);
      return null;
    }
    return [null, 502, 200][kind] ?? null;
  };
}

const clocked = { clock: systemClock };
const ping = { event: "ping", payload: { zen: "Keep it logically awesome.", hook_id: 7 } };

async function sendMany(github: FakeGithub, count: number, network: Post): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const sent = index % 5 === 4 ? published(clocked) : workflowRun(clocked);
    const delivery = await github.deliver(sent, network);
    if (random() < 0.1) await github.redeliver(delivery, network);
  }
}

const keysOf = (github: FakeGithub) => {
  const wanted = github.log.filter(({ event }) => event !== "ping");
  return [...new Set(wanted.map(({ guid }) => `code_host:${guid}`))];
};

describe.each(databases())("on $name", (kind) => {
  test("a GitHub that drops half of its deliveries has each event stored and notified once", async () => {
    const github = fakeGithub();
    taken.ends.push(() => github.stop());
    const own = await Installation.open(kind, settingsOf(github));
    await own.start();
    const network = droppingHalf(own.post("code_host"));
    await github.deliver(ping, () => Promise.resolve(null));
    await sendMany(github, 230, network);

    const dry = await own.run("reconcile", "code_host", "--dry-run");
    const missing = Number(/^(\d+) missing, /m.exec(dry.out)?.[1]);
    expect(missing).toBeGreaterThan(20);
    expect(
      dry.out.match(/^missing (?:workflow_run\.completed|package\.published) /gm),
    ).toHaveLength(missing);
    // Killed anywhere: before the first page, in the middle, near the end.
    for (let round = 0; round < 4; round += 1) {
      const child = spawnSkyhook(["reconcile", "code_host"], own.surroundings);
      const until = github.requests.length + 1 + Math.floor(random() * 30);
      while (github.requests.length < until && child.exitCode === null) await Bun.sleep(1);
      child.kill("SIGKILL");
      await child.exited;
      await sendMany(github, 5, network);
      await own.endLeases();
    }
    const { out, err, code } = await own.run("reconcile", "code_host");
    expect([err, code]).toEqual(["", 0]);
    expect(out).toMatch(/^\d+ recovered, \d+ had arrived$/m);
    await own.expectEachOnce(keysOf(github));
    expect((await own.run("doctor")).out).toMatch(
      /✓ +reconcile code_host +complete .* recovered so far/,
    );
    expect((await own.run("reconcile", "code_host")).out).toStartWith("0 recovered, ");
  });

  test("a server that is killed while it reconciles completes it after its next starts", async () => {
    const github = fakeGithub({
      keepsSignature: false,
      write: (payload) => JSON.stringify(payload, null, 1),
    });
    taken.ends.push(() => github.stop());
    const own = await Installation.open(kind, { ...settingsOf(github), RECONCILE_MINUTES: "15" });
    await own.start();
    await sendMany(github, 120, droppingHalf(own.post("code_host")));
    await own.kill();
    // All of these are lost.
    await sendMany(github, 30, own.post("code_host"));
    /** Whether a run was completed since `startedMs`. */
    const isComplete = async (server: RunningServer, startedMs: number) => {
      const status = await statusIn(await asOperator(server, "/v1/providers"));
      return Date.parse(String(status["succeededAt"])) >= startedMs;
    };
    for (let round = 0; round < 4; round += 1) {
      await own.endLeases();
      const enough = github.requests.length + 1 + Math.floor(random() * 20);
      const startedMs = Date.now();
      const server = await own.start();
      await until(
        async () => github.requests.length >= enough || (await isComplete(server, startedMs)),
        patienceMs,
      );
      await own.kill();
    }
    await own.endLeases();
    const startedMs = Date.now();
    const server = await own.start();
    await until(() => isComplete(server, startedMs), patienceMs);
    await own.expectEachOnce(keysOf(github), { mayRepeat: true });
  });

  test("Stripe's undelivered events are stored and notified once", async () => {
    const stripe = fakeStripe();
    taken.ends.push(() => stripe.stop());
    const own = await Installation.open(kind, {
      PAYMENT_PROCESSOR_API_URL: stripe.url,
      PAYMENT_PROCESSOR_API_TOKEN: stripe.token,
      RECONCILE_MINUTES: "0",
    });
    await own.start();
    const network = droppingHalf(own.post("payment_processor"));
    const deliver = async (body: object) => {
      const text = JSON.stringify(body);
      const status = await network(text, stripe.headersOf(text, testSecret("payment_processor")));
      return status === 200;
    };
    for (let index = 0; index < 150; index += 1) {
      const { body } = sample("payment_processor", "invoice.paid", systemClock);
      // Stripe counts a delivery that a proxy acknowledged as delivered, and does not list it.
      const isDelivered = await deliver(body);
      if (isDelivered)
        await own.post("payment_processor")(
          JSON.stringify(body),
          stripe.headersOf(JSON.stringify(body), testSecret("payment_processor")),
        );
      stripe.events.unshift({ body, isDelivered });
    }
    const child = spawnSkyhook(["reconcile", "payment_processor"], own.surroundings);
    await until(() => stripe.requests.length > 0, patienceMs);
    child.kill("SIGKILL");
    await child.exited;
    await own.endLeases();
    const { err, code } = await own.run("reconcile", "payment_processor");
    expect([err, code]).toEqual(["", 0]);
    // Stripe tries again, later.
    for (const event of stripe.events) event.isDelivered ||= await deliver(event.body);
    const keys = stripe.events.map(({ body }) => `payment_processor:${String(body["id"])}`);
    await own.expectEachOnce(keys);
  });
});

test("waits while another process reads the log, and takes it over from a dead one", async () => {
  const [kind] = databases();
  if (kind === undefined) throw new Error("No database");
  const isAsked = Promise.withResolvers<void>();
  const github = fakeGithub({
    answer: (_, count) => {
      if (count === 1) isAsked.resolve();
      return undefined;
    },
    delayMs: (count) => (count === 1 ? 60_000 : 0),
  });
  taken.ends.push(() => github.stop());
  const own = await Installation.open(kind, settingsOf(github));
  await own.start();
  await github.deliver(workflowRun(clocked), () => Promise.resolve(null));
  const first = spawnSkyhook(["reconcile", "code_host"], own.surroundings);
  await isAsked.promise;
  const second = own.run("reconcile", "code_host");
  first.kill("SIGKILL");
  const { out, err, code } = await second;
  expect(err).toBe("another process reads the log: waiting\n");
  expect(out).toEndWith("1 recovered, 0 had arrived\n");
  expect(code).toBe(0);
});

describe("skyhook reconcile", () => {
  const folder = temporaryFolder();
  const base = { DATABASE_URL: `sqlite:${folder}/skyhook.db`, CODE_HOST_API_TOKEN: "t" };
  const reconcile = (provider: string, env: Record<string, string>, ...args: string[]) =>
    runSkyhook(["reconcile", provider, ...args], { cwd: folder, env });

  test.each<[string, string, Record<string, string>, string]>([
    ["a provider without a log", "task_tracker", base, "has no log that Skyhook can read"],
    ["no settings", "code_host", {}, "Set CODE_HOST_API_TOKEN and CODE_HOST_HOOK"],
    ["no hook", "code_host", base, "Set CODE_HOST_API_TOKEN and CODE_HOST_HOOK"],
    [
      "a hook without a token",
      "code_host",
      { CODE_HOST_HOOK: "orgs/a/hooks/1" },
      "CODE_HOST_HOOK needs CODE_HOST_API_TOKEN",
    ],
    [
      "an unregistered provider",
      "payment_processor",
      { PAYMENT_PROCESSOR_API_TOKEN: "t" },
      "add it to WEBHOOK_PROVIDERS",
    ],
    [
      "another form of hook",
      "code_host",
      { ...base, CODE_HOST_HOOK: "repos/a/../hooks/1" },
      "must be repos/OWNER/REPO/hooks/ID",
    ],
    ["http", "code_host", { ...base, CODE_HOST_API_URL: "http://api.example.com" }, "an https URL"],
    [
      "a password in the URL",
      "code_host",
      { ...base, CODE_HOST_API_URL: "https://a:b@api.example.com" },
      "an https URL",
    ],
    [
      "a token with a space",
      "code_host",
      { CODE_HOST_API_TOKEN: "a b" },
      "CODE_HOST_API_TOKEN must be a token",
    ],
    [
      "a database in memory",
      "code_host",
      { ...base, DATABASE_URL: "sqlite::memory:", CODE_HOST_HOOK: "orgs/a/hooks/1" },
      "in memory",
    ],
  ])("refuses %s in one line", async (_, provider, env, message) => {
    const { out, err, code } = await reconcile(provider, env);
    expect(out).toBe("");
    expect(err).toContain(message);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(2);
  });

  test("fails with what to do if the API refuses the token, and shows it nowhere", async () => {
    const github = fakeGithub();
    taken.ends.push(() => github.stop());
    const env = { ...base, ...settingsOf(github), CODE_HOST_API_TOKEN: "github_pat_wrong" };
    const { out, err, code } = await reconcile("code_host", env);
    expect(err).toContain("answers 401: Bad credentials. Set CODE_HOST_API_TOKEN to a new token");
    expect(code).toBe(1);
    const doctor = await runSkyhook(["doctor"], { cwd: folder, env });
    expect(doctor.out).toMatch(/! +reconcile code_host +failed just now: .*Bad credentials/);
    const config = await runSkyhook(["config"], { cwd: folder, env });
    for (const text of [out, err, doctor.out, config.out])
      expect(text).not.toContain("github_pat_wrong");
  });
});
