import type { Command } from "commander";

import { type Config, readConfig } from "../config/config.ts";
import { ConfigError } from "../config/errors.ts";
import { type SecretStore, secretStore } from "../config/secrets.ts";
import { deliveryIdentity } from "../gateway/receive/delivery-key.ts";
import { explain, type Known } from "../gateway/diagnosis/explain.ts";
import { interpret } from "../gateway/providers/interpret.ts";
import type { Provider } from "../gateway/providers/provider.ts";
import { providerById } from "../gateway/providers/catalogue.ts";
import { advice, reasonFor } from "../gateway/diagnosis/rejection-advice.ts";
import type { RejectionReason } from "../gateway/rejection.ts";
import {
  type Secrets,
  type SignedRequest,
  type Verified,
  verifier,
} from "../gateway/signatures/signature.ts";

import { argument, example } from "./arguments.ts";
import { messageOf } from "./errors.ts";
import { inputFrom } from "./input.ts";
import { painter, UsageError } from "./output.ts";
import { findProvider, secretOption, secretsOf } from "./provider.ts";

interface VerifyOptions {
  readonly header?: readonly string[];
  readonly headersFile?: string;
  /** A file, or `-` for standard input. */
  readonly body: string;
  readonly secret?: string;
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
    .option("--at <time>", "time of receipt, like 2026-11-21T09:00:00Z", argument(parseTime))
    .addHelpText(
      "after",
      example(
        "skyhook verify code_host --body body.json --header 'x-codehost-signature-256: sha256=…'",
      ),
    )
    .action((provider: string, options: VerifyOptions) => verify(provider, options, env));
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

function parseTime(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) || Number.isNaN(time.getTime())) {
    throw new Error("Write a time with its offset, like 2026-11-21T09:00:00Z.");
  }
  return time;
}

/** `skyhook verify`: checks whether a recorded delivery would be accepted and, if not, explains why. */
export async function verify(
  providerId: string,
  options: VerifyOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const provider = findProvider(providerId);
  const config = readConfig(env);
  const secrets = secretsOf(provider, options.secret, config.secretsDir, env);
  const request: SignedRequest = {
    headers: await readHeaders(options),
    bytes: await readBody(options.body),
    receivedAtMs: options.at?.getTime() ?? Date.now(),
  };
  const paint = painter(env);
  const verdict = verdictOn(provider, secrets, request);
  if ("verified" in verdict) {
    console.log(`${paint("green", "✓")} verified with the ${verdict.verified.signedWith} secret`);
    printMeaning(provider, request, verdict.verified);
    return;
  }
  const { reason } = verdict;
  const refused = { ...request, reason, bodyBytes: request.bytes.length };
  console.log(`${paint("red", "✗")} ${reason}: ${advice(reason, provider, refused)}`);
  const others = othersThan(provider, config, env);
  const { cause, detail } = explain({ provider, secrets, others }, refused);
  const isNews = cause === "stale-timestamp" || (cause !== reason && cause !== "unknown");
  if (isNews) console.log(`  ${paint("yellow", "Found:")} ${detail}`);
  process.exitCode = 1;
}

/** The known secrets of the other registered providers. */
function othersThan(
  { id }: Provider,
  { providers, secretsDir }: Config,
  env: NodeJS.ProcessEnv,
): Known["others"] {
  const store = secretStore(env, secretsDir);
  return providers.flatMap((other) => {
    const secrets = other === id ? null : secretsIfSound(store, other);
    const displayName = providerById(other)?.displayName ?? other;
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
function verdictOn(
  provider: Provider,
  secrets: Secrets,
  request: SignedRequest,
): { readonly verified: Verified } | { readonly reason: RejectionReason } {
  const { headers, bytes } = request;
  const coding = headers.get("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity") return { reason: "unsupported-encoding" };
  if (bytes.length > provider.maxBodyBytes) return { reason: "body-too-large" };
  const result = verifier(provider.signature, secrets)(request);
  if ("verified" in result) return result;
  return { reason: reasonFor(provider, headers, result.rejection) };
}

/** Prints the event that the delivery would create. */
function printMeaning(provider: Provider, { headers }: SignedRequest, verified: Verified): void {
  const meaning = interpret(provider, verified, (name) => headers.get(name));
  if (meaning === null) {
    console.log(
      "  but the body is not a JSON object in UTF-8: the server answers 400 and stores it as unreadable",
    );
    return;
  }
  const ignored = meaning.status === "ignored" ? " (ignored: no notifications)" : "";
  console.log(`  type   ${meaning.type}${ignored}`);
  console.log(`  title  ${meaning.title}`);
  console.log(`  key    ${deliveryIdentity(provider, meaning, verified).keys[0]}`);
}

async function readHeaders({ header = [], headersFile }: VerifyOptions): Promise<Headers> {
  const lines = headersFile === undefined ? [] : linesOf(await readBody(headersFile));
  const headers = new Headers();
  for (const line of [...lines, ...header]) {
    const [, name = "", value = ""] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(.*)$/.exec(line.trim()) ?? [];
    try {
      headers.append(name, value);
    } catch {
      throw new UsageError(`Write a header as "name: value", not "${line}"`);
    }
  }
  return headers;
}

/** The header lines of a file, without empty lines and a request line such as `POST / HTTP/1.1`. */
function linesOf(bytes: Uint8Array): readonly string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  return lines.filter((line) => line.trim() !== "" && !/^[A-Z]+ \S+ HTTP\/[\d.]+$/.test(line));
}

async function readBody(file: string): Promise<Uint8Array> {
  const input = await inputFrom(file);
  try {
    return await input.bytes();
  } catch (error) {
    throw new Error(`${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
