import type { Command } from "commander";

import { systemClock } from "../../base/clock.ts";
import { isoTime } from "../../base/times.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { ConfigError } from "../../config/errors.ts";
import { providersFetch, registeredProviders } from "../../config/providers.ts";
import { type SecretStore, secretStore } from "../../config/secrets.ts";
import type { RejectionReason } from "../../inbound/model/rejection.ts";
import { interpret } from "../../inbound/providers/interpret.ts";
import { requestReader } from "../../inbound/providers/kept-query.ts";
import { providerVerifier } from "../../inbound/providers/provider-verifier.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import { eventIdentity } from "../../inbound/receive/event-identity.ts";
import { explain, type Known } from "../../inbound/rejections/explain.ts";
import { advice, reasonFor } from "../../inbound/rejections/rejection-advice.ts";
import { type KeyStore, keyStore } from "../../inbound/signatures/key-store.ts";
import type { Secrets, SignedRequest, Verified } from "../../inbound/signatures/signed-request.ts";
import { argument, collect, example, parseHeaders } from "../kit/arguments.ts";
import { findKnown, secretOption, secretsOf } from "../kit/find-provider.ts";
import { readBody } from "../kit/input.ts";
import { painter } from "../kit/output.ts";
import { localUrl } from "../kit/request.ts";

interface VerifyOptions {
  readonly header?: readonly string[];
  readonly headersFile?: string;
  /** A file, or `-` for standard input. */
  readonly body: string;
  readonly secret?: string;
  /** The URL that the service posted to; default: that of this provider at PUBLIC_URL. */
  readonly url?: string;
  /** Time of receipt; default: now. */
  readonly at?: Date;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("verify")
    .description("check the signature of a delivery and explain a failure")
    .argument("<provider>", "for example code_host")
    .requiredOption("--body <file>", "file with the exact body; - for standard input")
    .option("--header <line>", "a header as 'name: value'; repeatable", collect)
    .option("--headers-file <file>", "file with one header per line")
    .option("--secret <secret>", secretOption)
    .option("--url <url>", "the URL that the service posted to, if the service signs it")
    .option("--at <time>", "time of receipt, like 2026-11-21T09:00:00Z", argument(parseTime))
    .addHelpText(
      "after",
      example(
        "skyhook verify code_host --body body.json --header 'x-codehost-signature-256: sha256=…'",
      ),
    )
    .action((provider: string, options: VerifyOptions) => verify(provider, options, env));
}

function parseTime(text: string): Date {
  const time = isoTime(text);
  if (time !== null) return time;
  throw new Error("Write a time that exists, with its offset, like 2026-11-21T09:00:00Z.");
}

/** `skyhook verify`: checks whether a recorded delivery would be accepted and, if not, explains why. */
export async function verify(
  providerId: string,
  options: VerifyOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const provider = await findKnown(providerId, config);
  const secrets = secretsOf(provider, options.secret, config.secretsDir, env);
  const request: SignedRequest = {
    method: "POST",
    url: options.url ?? `${config.publicUrl ?? localUrl(config)}/webhooks/${provider.id}`,
    headers: await readHeaders(options),
    bytes: await readBody(options.body),
    receivedAtMs: options.at?.getTime() ?? Date.now(),
  };
  const paint = painter(env);
  const keys = keyStore(systemClock, providersFetch(config));
  const verdict = await verdictOn(provider, secrets, request, keys);
  if ("verified" in verdict) {
    console.log(`${paint("green", "✓")} verified with the ${verdict.verified.signedWith} secret`);
    printMeaning(provider, request, verdict.verified);
    return;
  }
  const { reason } = verdict;
  const rejected = { ...request, reason, bodyBytes: request.bytes.length };
  console.log(`${paint("red", "✗")} ${reason}: ${advice(reason, provider, rejected)}`);
  const others = othersThan(provider, config, env);
  const { cause, detail } = await explain({ provider, secrets, others, keys }, rejected);
  const isNews = cause === "stale-timestamp" || (cause !== reason && cause !== "unknown");
  if (isNews) console.log(`  ${paint("yellow", "Found:")} ${detail}`);
  process.exitCode = 1;
}

/** The known secrets of the other registered providers. */
function othersThan({ id }: Provider, config: Config, env: NodeJS.ProcessEnv): Known["others"] {
  const store = secretStore(env, config.secretsDir);
  return registeredProviders(config).flatMap(({ id: other, displayName }) => {
    const secrets = other === id ? null : secretsIfSound(store, other);
    return secrets === null ? [] : [{ displayName, secrets }];
  });
}

/** Null also for an invalid secret, which does not concern this delivery. */
function secretsIfSound(store: SecretStore, provider: string): Secrets | null {
  try {
    return store.webhookSecrets(provider);
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

/** Makes the same checks in the same order as the receiving chain. */
async function verdictOn(
  provider: Provider,
  secrets: Secrets,
  request: SignedRequest,
  keys: KeyStore,
): Promise<{ readonly verified: Verified } | { readonly reason: RejectionReason }> {
  const { headers, bytes } = request;
  const coding = headers.get("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity") return { reason: "unsupported-encoding" };
  if (bytes.length > provider.maxBodyBytes) return { reason: "body-too-large" };
  const result = await providerVerifier(provider, secrets, keys)(request);
  if ("verified" in result) return result;
  return { reason: reasonFor(provider, headers, result.rejection) };
}

/** Prints the events that the delivery would create. */
function printMeaning(provider: Provider, request: SignedRequest, verified: Verified): void {
  const meanings = interpret(provider, verified, requestReader(provider, request));
  if (meanings === null) {
    console.log(
      "  but the body is not a JSON object in UTF-8: the server answers 400 and stores it as unreadable",
    );
    return;
  }
  for (const meaning of meanings) {
    const { status, type, title, item } = meaning;
    const ignored = status === "ignored" ? " (ignored: no notifications)" : "";
    if (item !== null) console.log(`  item   ${item} of ${meanings.length}`);
    console.log(`  type   ${type}${ignored}`);
    console.log(`  title  ${title}`);
    console.log(`  key    ${eventIdentity(provider, meaning, verified).keys[0]}`);
  }
}

async function readHeaders({ header = [], headersFile }: VerifyOptions): Promise<Headers> {
  const lines = headersFile === undefined ? [] : linesOf(await readBody(headersFile));
  return parseHeaders([...lines, ...header]);
}

/** The header lines of a file, without empty lines and a request line such as `POST / HTTP/1.1`. */
function linesOf(bytes: Uint8Array): readonly string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  return lines.filter((line) => line.trim() !== "" && !/^[A-Z]+ \S+ HTTP\/[\d.]+$/.test(line));
}
