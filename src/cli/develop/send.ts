import { type Command, Option } from "commander";

import { nearest } from "../../base/nearest.ts";
import { textAt } from "../../base/payload.ts";
import { programName } from "../../base/program-name.ts";
import { readConfig } from "../../config/config.ts";
import { registeredProviders } from "../../config/providers.ts";
import { catalogue } from "../../inbound/providers/catalogue.ts";
import type { Fresh, Provider } from "../../inbound/providers/provider.ts";
import { type SignedSample, signedSample } from "../../inbound/providers/signed-sample.ts";
import { developmentSecret, signingKeyWith } from "../../inbound/signatures/development-secret.ts";
import type { SigningKey } from "../../inbound/signatures/keys.ts";
import { coversBody, toleranceOf } from "../../inbound/signatures/scheme.ts";
import { argument, collect, example, parseHeaders } from "../kit/arguments.ts";
import { findKnown, secretOption, secretsOf, signingKeyOf } from "../kit/find-provider.ts";
import { readBody } from "../kit/input.ts";
import { note, type Paint, painter, UsageError } from "../kit/output.ts";
import { type Answer, isItRunning, localUrl, problemOf, request } from "../kit/request.ts";
import { serverOption } from "../kit/server-api.ts";

import { withBooking } from "./booking-sample.ts";
import { signedFileHeaders } from "./sign.ts";

interface SendOptions {
  readonly list?: true;
  /** Sends only the event's name and an id instead of a complete payload. */
  readonly minimal?: true;
  readonly tamper?: "signature" | "body" | "time";
  readonly server?: string;
  readonly secret?: string;
  /** A UUID. The same id again on the same day (UTC) is a duplicate. */
  readonly id?: string;
  /** The reference or id of a booking that the payment event is about. */
  readonly booking?: string;
  /** A file to send instead of a sample, or `-` for standard input. */
  readonly body?: string;
  readonly header?: readonly string[];
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("send")
    .description("sign a sample delivery as its provider would, and post it")
    .argument("[provider]", "for example task_tracker, or its service: todoist")
    .argument("[event]", "for example task.completed")
    .option("--list", "list the registered providers and their events")
    .option("--minimal", "send only the event's name and an id instead of a full payload")
    .addOption(
      new Option("--tamper <what>", "make the delivery invalid; expect a 401").choices([
        "signature",
        "body",
        "time",
      ]),
    )
    .addOption(serverOption())
    .option("--secret <secret>", secretOption)
    .option(
      "--id <uuid>",
      "delivery id; the same id again on the same day is a duplicate, if the provider sends ids",
      argument(parseUuid),
    )
    .option(
      "--booking <reference>",
      "for payment events: the booking to pay or refund, at its price",
    )
    .option("--body <file>", "send this file instead of a sample; - for standard input")
    .option("--header <line>", "with --body: a header as 'name: value'; repeatable", collect)
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
  const config = readConfig(env);
  if (options.list) {
    for (const { id, samples } of registeredProviders(config)) {
      for (const type of Object.keys(samples)) console.log(`${id} ${type}`);
    }
    return;
  }
  const known = await findKnown(providerId, config);
  const provider =
    options.booking === undefined
      ? known
      : await withBooking(known, eventType, { ...options, booking: options.booking }, env);
  const { secretsDir, publicUrl } = config;
  const secrets = secretsOf(provider, options.secret, secretsDir, env);
  const key = signingKeyOf(provider, secrets, secretsDir, env);
  const path = `/webhooks/${provider.id}`;
  const base = options.server ?? localUrl(config);
  const signedUrl = (publicUrl ?? base) + path;
  const { headers, bytes, urlEnd } =
    options.body === undefined
      ? prepared(provider, eventType, options, key, signedUrl)
      : await fromFile(provider, eventType, options, options.body, key, signedUrl);
  const url = base + path + urlEnd;
  const answer = await request(url, { method: "POST", headers, body: bytes }, isItRunning);
  print(answer, options, painter(env));
  if (!answer.ok) process.exitCode = 1;
}

/** A delivery with the bytes of a file. */
async function fromFile(
  provider: Provider,
  eventType: string | undefined,
  { tamper, minimal, id, booking, header = [] }: SendOptions,
  file: string,
  right: SigningKey,
  url: string,
): Promise<SignedSample> {
  const others = [eventType, minimal, id, booking];
  if (others.some((given) => given !== undefined)) {
    throw new UsageError(
      "--body replaces the sample: leave out the event, --minimal, --id and --booking",
    );
  }
  const bytes = Buffer.from(await readBody(file));
  const { key, signedAtMs } = tampered(provider, tamper, right);
  const given = parseHeaders(header);
  const headers = signedFileHeaders(provider, key, { headers: given, bytes, url }, signedAtMs);
  if (tamper === "body") {
    requireSignedBody(provider);
    changeOneByte(bytes);
  }
  return { headers, bytes, urlEnd: provider.signature.kind === "url" ? `/${key.secret}` : "" };
}

/** The key and the time to sign with. */
function tampered(provider: Provider, tamper: SendOptions["tamper"], right: SigningKey) {
  return {
    key: tamper === "signature" ? otherKey(provider) : right,
    signedAtMs: Date.now() - (tamper === "time" ? staleAgeMs(provider) : 0),
  };
}

function prepared(
  provider: Provider,
  eventType: string | undefined,
  { tamper, minimal, id: givenId, header }: SendOptions,
  right: SigningKey,
  url: string,
): SignedSample {
  if (header !== undefined) throw new UsageError("--header needs --body: a sample has its own");
  const { id, samples } = provider;
  const name = eventType ?? "";
  const whole = Object.hasOwn(samples, name) ? samples[name] : undefined;
  if (whole === undefined) {
    const known = Object.keys(samples);
    const near = nearest(name, known);
    const error = eventType === undefined ? "Name an event" : `${id} has no event "${eventType}"`;
    const hint = near === null ? "" : ` Did you mean ${near}?`;
    throw new UsageError(`${error}.${hint} Events: ${known.join(", ")}`);
  }
  if (minimal && provider.path !== undefined) {
    throw new UsageError(
      `--minimal is for built-in providers: ${id} has no common form of payload`,
    );
  }
  const { key, signedAtMs } = tampered(provider, tamper, right);
  const fresh = freshFor(givenId);
  const named = { type: eventType, id: fresh.id };
  const sample = minimal ? () => ({ ...whole(fresh), body: named }) : whole;
  const delivery = signedSample(provider, sample, key, fresh, { signedAtMs, url });
  if (tamper === "body") {
    requireSignedBody(provider);
    changeOneByte(delivery.bytes);
  }
  return delivery;
}

/** For a signature that is well-formed, but of another secret. */
function otherKey({ signature, secretPrefix }: Provider): SigningKey {
  const made = developmentSecret(signature, secretPrefix);
  if (made === null)
    throw new UsageError("Only the service can sign, so nothing can be tampered with");
  return signingKeyWith(made);
}

function requireSignedBody({ id, signature }: Provider): void {
  if (coversBody(signature)) return;
  throw new UsageError(`${id} does not sign the whole body, so a change would go unnoticed`);
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
  const toleranceSeconds = toleranceOf(signature);
  if (toleranceSeconds !== null) return toleranceSeconds * 1_000 + staleMs;
  const timed = catalogue.filter((other) => toleranceOf(other.signature) !== null);
  throw new UsageError(
    `${id} signs no timestamp to tamper with; ${timed.map((other) => other.id).join(", ")} does`,
  );
}

/** Changes the case of the first letter. White space would not matter where compact JSON is signed. */
function changeOneByte(bytes: Buffer): void {
  const index = bytes.findIndex((byte) => /[a-z]/i.test(String.fromCharCode(byte)));
  if (index === -1) throw new UsageError("--tamper body needs a body with a letter");
  bytes.writeUInt8(bytes.readUInt8(index) ^ 0x20, index);
}

function print(answer: Answer, { tamper }: SendOptions, paint: Paint): void {
  const { status, ok, json } = answer;
  const facts = ["status", "id", "idempotencyKey"].map((name) => textAt(json, name));
  const said = ok ? facts.filter((fact) => fact !== null).join(" ") : problemOf(answer);
  console.log(`${paint(ok ? "green" : "red", String(status))} ${said}`);
  if (json !== null) console.log(JSON.stringify(json));
  const hint = tamper === undefined ? hints[status] : undefined;
  if (hint !== undefined) note(hint);
}

/** Advice if an unchanged delivery is rejected. */
const hints: Readonly<Record<number, string>> = {
  401: "The server has another secret for this provider, a proxy changed the body, or the clocks differ. The console's Rejected view says which.",
  404: "Check that WEBHOOK_PROVIDERS of the server contains the provider, and check --server.",
  429: "Too many invalid signatures from this address: wait a minute.",
  503: `Run \`${programName} doctor\`. If it finds the secret, restart the server or send it kill -HUP <pid>.`,
};
