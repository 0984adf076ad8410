import { type Command, Option } from "commander";

import { readConfig } from "../config/config.ts";
import { textAt } from "../gateway/providers/payload.ts";
import type { Fresh, Provider } from "../gateway/providers/provider.ts";
import { catalogue } from "../gateway/providers/catalogue.ts";
import { type SignedSample, signedSample } from "../gateway/providers/signed-sample.ts";

import { argument, example } from "./arguments.ts";
import { type Paint, painter, UsageError } from "./output.ts";
import { programName } from "./program.ts";
import { findProvider, secretOption, secretsOf } from "./provider.ts";
import { type Answer, isItRunning, localUrl, parseBaseUrl, problemOf, request } from "./request.ts";

interface SendOptions {
  readonly list?: true;
  /** Sends only the event's name and an id instead of a complete payload. */
  readonly minimal?: true;
  readonly tamper?: "signature" | "body" | "time";
  readonly url?: string;
  readonly secret?: string;
  /** A UUID. The same id again on the same day (UTC) is a duplicate. */
  readonly id?: string;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("send")
    .description("sign a sample delivery as its provider would, and post it")
    .argument("[provider]", "for example task_tracker")
    .argument("[event]", "for example task.completed")
    .option("--list", "list all providers and events")
    .option("--minimal", "send only the event's name and an id instead of a full payload")
    .addOption(
      new Option("--tamper <what>", "make the delivery invalid; expect a 401").choices([
        "signature",
        "body",
        "time",
      ]),
    )
    .option("--url <url>", "the server; default: this machine, at PORT", argument(parseBaseUrl))
    .option("--secret <secret>", secretOption)
    .option(
      "--id <uuid>",
      "delivery id; the same id again on the same day is a duplicate",
      argument(parseUuid),
    )
    .addHelpText("after", example("skyhook send task_tracker task.completed"))
    .action((provider: string | undefined, event: string | undefined, options: SendOptions) =>
      send(provider, event, options, env),
    );
}

function parseUuid(text: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new Error("Write a UUID, like 0193a5c0-7b1e-4c3a-8e21-d4f60b7a9c55.");
}

/** How far beyond a provider's tolerance a stale signature is, to allow for the server's clock. */
const staleMs = 5 * 60_000;

/** `skyhook send`: signs a sample delivery as the provider would and posts it. */
export async function send(
  providerId: string | undefined,
  eventType: string | undefined,
  options: SendOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (options.list) {
    for (const { id, samples } of catalogue) {
      for (const type of Object.keys(samples)) console.log(`${id} ${type}`);
    }
    return;
  }
  const provider = findProvider(providerId);
  const config = readConfig(env);
  const { current } = secretsOf(provider, options.secret, config.secretsDir, env);
  const { headers, bytes } = prepared(provider, eventType, options, current);
  const url = `${options.url ?? localUrl(config)}/webhooks/${provider.id}`;
  const answer = await request(url, { method: "POST", headers, body: bytes }, isItRunning);
  print(answer, options, painter(env));
  if (!answer.ok) process.exitCode = 1;
}

function prepared(
  provider: Provider,
  eventType: string | undefined,
  { tamper, minimal, id: givenId }: SendOptions,
  secret: string,
): SignedSample {
  const { id, samples } = provider;
  const whole = samples[eventType ?? ""];
  if (whole === undefined) {
    const error = eventType === undefined ? "Name an event" : `${id} has no event "${eventType}"`;
    throw new UsageError(`${error}. Events: ${Object.keys(samples).join(", ")}`);
  }
  const signedAtMs = Date.now() - (tamper === "time" ? staleAgeMs(provider) : 0);
  // Well-formed, but signed with another secret.
  const key = tamper === "signature" ? `not ${secret}` : secret;
  const fresh = freshFor(givenId);
  const named = { type: eventType, id: fresh.id };
  const sample = minimal ? () => ({ ...whole(fresh), body: named }) : whole;
  const delivery = signedSample(provider, sample, key, fresh, signedAtMs);
  if (tamper === "body") changeOneByte(delivery.bytes);
  return delivery;
}

/** With a given id, the same values all day, because a retry repeats the bytes, times included. */
function freshFor(givenId: string | undefined): Fresh {
  const now = new Date();
  if (givenId === undefined) return { id: crypto.randomUUID(), now };
  now.setUTCHours(0, 0, 0, 0);
  return { id: givenId, now };
}

/** The age of a stale signature. Throws a `UsageError` if the provider signs no timestamp. */
function staleAgeMs({ id, signature }: Provider): number {
  if (signature.signed === "timestamp-dot-raw") {
    return signature.toleranceSeconds * 1_000 + staleMs;
  }
  const timed = catalogue.filter((other) => other.signature.signed === "timestamp-dot-raw");
  throw new UsageError(
    `${id} signs no timestamp to tamper with; ${timed.map((other) => other.id).join(", ")} does`,
  );
}

/** Changes the case of the first letter. White space would not matter where compact JSON is signed. */
function changeOneByte(bytes: Buffer): void {
  const index = bytes.findIndex((byte) => /[a-z]/i.test(String.fromCharCode(byte)));
  bytes.writeUInt8(bytes.readUInt8(index) ^ 0x20, index);
}

function print(answer: Answer, { tamper }: SendOptions, paint: Paint): void {
  const { status, ok, json } = answer;
  const facts = ["status", "id", "idempotencyKey"].map((name) => textAt(json, name));
  const said = ok ? facts.filter((fact) => fact !== null).join(" ") : problemOf(answer);
  console.log(`${paint(ok ? "green" : "red", String(status))} ${said}`);
  if (json !== null) console.log(JSON.stringify(json));
  const hint = tamper === undefined ? hints[status] : undefined;
  if (hint !== undefined) console.error(hint);
}

/** Advice if an unchanged delivery is rejected. */
const hints: Readonly<Record<number, string>> = {
  401: "The server has another secret for this provider, a proxy changed the body, or the clocks differ. The console's Rejected view says which.",
  404: "Check that WEBHOOK_PROVIDERS of the server contains the provider, and check --url.",
  429: "Too many invalid signatures from this address: wait a minute.",
  503: `Run \`${programName} doctor\`. If it finds the secret, restart the server or send it kill -HUP <pid>.`,
};
