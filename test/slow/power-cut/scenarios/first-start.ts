import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { systemClock } from "../../../../src/base/clock.ts";
import { secretStore, tokenKey } from "../../../../src/config/secrets.ts";
import { tokens } from "../../../../src/identity/auth/token.ts";
import { signed, until } from "../../../support/app.ts";
import { bookingBody, post } from "../../../support/flights.ts";
import { testGateway } from "../../../support/gateway.ts";
import { keyOf } from "../../../support/load.ts";
import { type RunningServer, runSkyhook, startServer } from "../../../support/program.ts";
import { flightLines } from "../../harness/flights.ts";
import { Said } from "../facts.ts";
import { environmentIn, type Wrong, wrongDatabase } from "../opened.ts";
import type { Recorder } from "../recorder.ts";
import type { Claims, Scenario } from "../scenario.ts";
import type { Step } from "../steps.ts";

const provider = "task_tracker";
const patienceMs = 60_000;

/** An operator begins in an empty folder: secrets, a server with its keys, a token, and a new secret. */
export const firstStart: Scenario = {
  name: "first-start",

  async record(recorder, requests) {
    const { root } = recorder;
    const env = environmentIn(root);
    await command(recorder, ["secrets", "init"]);
    await using gateway = testGateway();
    await serve(recorder, { ...env, ...gateway.env }, requests);
  },

  claims: () => new FirstStartClaims(),
};

async function serve(
  recorder: Recorder,
  env: Readonly<Record<string, string>>,
  requests: number,
): Promise<void> {
  const { root } = recorder;
  const server = await startServer({ cwd: root, env, through: recorder.recorded() });
  try {
    const [flights] = flightLines([1_000]);
    await command(recorder, ["import", "-", "--format", "ndjson"], flights);
    const token = (await command(recorder, ["token", "--email", "ada@example.com"])).trim();
    const some = Math.ceil(requests / 20);
    for (let number = 1; number <= some; number += 1) await deliver(server, root, number);
    for (let number = 1; number <= some; number += 1) await book(server, token, number);
    await rotate(recorder);
    process.kill(server.pid, "SIGHUP");
    await until(() => server.log().includes("webhook secrets reloaded"), patienceMs);
    for (let number = 1; number <= some; number += 1) await deliver(server, root, some + number);
    await server.stop();
  } finally {
    await server.kill();
  }
}

async function command(recorder: Recorder, args: readonly string[], input = ""): Promise<string> {
  const { root } = recorder;
  const through = recorder.recorded();
  const { code, out, err } = await runSkyhook(args, {
    cwd: root,
    env: environmentIn(root),
    through,
    input,
  });
  if (code !== 0) throw new Error(err);
  return out;
}

async function deliver({ url }: RunningServer, root: string, number: number): Promise<void> {
  const secret = secretsIn(root)?.current;
  if (secret === undefined) throw new Error("There is no secret");
  const body = JSON.stringify({ event_name: "item:completed", event_data: { id: `${number}` } });
  const headers = { "x-tasktracker-delivery-id": keyOf(number) };
  const request = signed(provider, body, systemClock, { headers, secret });
  await answered(fetch(`${url}/webhooks/${provider}`, request));
}

async function book({ url }: RunningServer, token: string, number: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "idempotency-key": `key-${number}` };
  await answered(fetch(`${url}/v1/api/bookings`, post(bookingBody(1, 2), headers)));
}

async function answered(response: Promise<Response>): Promise<void> {
  const { ok, status } = await response;
  if (!ok) throw new Error(`The server answered ${status}`);
}

const secretsIn = (root: string) =>
  secretStore({}, environmentIn(root).SECRETS_DIR).webhookSecrets(provider);

/** Stores a new secret as `skyhook register` does, and prints the former and the new one. */
async function rotate(recorder: Recorder): Promise<void> {
  const module = join(import.meta.dir, "../../../../src/config/secrets.ts");
  const { SECRETS_DIR } = environmentIn(recorder.root);
  const script = `
    const { secretStore } = await import(${JSON.stringify(module)});
    const store = secretStore({}, ${JSON.stringify(SECRETS_DIR)});
    console.log("former secret: " + store.webhookSecrets("${provider}").current);
    const secret = "the-second-secret-of-the-provider";
    store.storeWebhookSecret("${provider}", secret, "current");
    console.log("new secret: " + secret);`;
  const child = Bun.spawn([...recorder.recorded(), process.execPath, "-e", script]);
  if ((await child.exited) !== 0) throw new Error("The secret was not stored");
}

class FirstStartClaims implements Claims {
  readonly #said = new Said();
  /** Secret files that were announced. */
  readonly #made: string[] = [];
  readonly #tokens: string[] = [];
  #former: string | null = null;
  #new: string | null = null;

  count(): number {
    return this.#said.facts.size + this.#made.length + this.#tokens.length;
  }

  hear(step: Step): void {
    this.#said.hear(step);
    if (step.does !== "print") return;
    const text = step.data.toString();
    for (const [, file = ""] of text.matchAll(/^made +(.+)$/gm)) this.#made.push(basename(file));
    for (const [token] of text.matchAll(/^eyJ\S+$/gm)) this.#tokens.push(token);
    this.#former = /^former secret: (.+)$/m.exec(text)?.[1] ?? this.#former;
    this.#new = /^new secret: (.+)$/m.exec(text)?.[1] ?? this.#new;
  }

  async wrongIn(folder: string): Promise<Wrong> {
    // The database last: opening it makes the keys that are missing.
    return [
      ...this.#wrongSecrets(folder),
      ...(await this.#wrongTokens(folder)),
      ...(await wrongDatabase(folder, this.#said.facts)),
    ];
  }

  #wrongSecrets(folder: string): Wrong {
    const { SECRETS_DIR } = environmentIn(folder);
    const files = existsSync(SECRETS_DIR) ? readdirSync(SECRETS_DIR) : [];
    const secrets = secretsIn(folder);
    const known = [secrets?.current, secrets?.previous];
    return [
      ...this.#made.filter((name) => !files.includes(name)).map((name) => `${name} is missing`),
      ...files
        .filter((name) => !name.endsWith(".tmp"))
        .filter((name) => readFileSync(join(SECRETS_DIR, name)).length < 32)
        .map((name) => `${name} is not whole`),
      ...(this.#former !== null && !known.includes(this.#former)
        ? ["the former secret is lost"]
        : []),
      ...(this.#new !== null && secrets?.current !== this.#new ? ["the new secret is lost"] : []),
    ];
  }

  async #wrongTokens(folder: string): Promise<Wrong> {
    if (this.#tokens.length === 0) return [];
    const { DATA_DIR } = environmentIn(folder);
    if (!existsSync(DATA_DIR)) return ["the data folder is missing"];
    const issuing = { issuer: "skyhook", audience: "skyhook" };
    const { verify } = tokens({ key: tokenKey(null, DATA_DIR), ...issuing }, systemClock);
    const results = await Promise.allSettled(this.#tokens.map((token) => verify(token)));
    return results.flatMap(({ status }) => (status === "rejected" ? ["a token is not valid"] : []));
  }
}
