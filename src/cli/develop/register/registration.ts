import { accessSync, constants, existsSync, mkdirSync } from "node:fs";

import { isLoopback } from "../../../base/loopback.ts";
import { programName } from "../../../base/program-name.ts";
import { type Config } from "../../../config/config.ts";
import { secretPlaces, secretStore } from "../../../config/secrets.ts";
import type { Provider } from "../../../inbound/providers/provider.ts";
import { messageOf } from "../../kit/errors.ts";
import { findRegistered, requireNoVariable } from "../../kit/find-provider.ts";
import { note, painter, UsageError } from "../../kit/output.ts";

export interface RegisterOptions {
  /** The gateway's public base URL, or that of the webhook itself. */
  readonly url?: string;
  readonly apiUrl?: string;
  readonly token?: string;
  /** GitHub: the repository or the organization. */
  readonly repo?: string;
  readonly org?: string;
  readonly dryRun?: true;
}

/** What all registrations need. */
export interface Registration {
  readonly provider: Provider;
  readonly options: RegisterOptions;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
}

/** The provider's webhook at this gateway. Warns of a URL that no provider can reach. */
export function webhookUrl({ provider, options }: Registration): string {
  if (options.url === undefined) throw new UsageError("--url <url> is required");
  const path = `/webhooks/${provider.id}`;
  const url = options.url.endsWith(path) ? options.url : `${options.url}${path}`;
  if (isLoopback(url)) {
    note(`warning: ${url} is an address of this machine only, which no provider can reach`);
  }
  return url;
}

/** The base URL of the provider's API, from the options or else `usual`. */
export function apiUrlOf({ options }: Registration, usual: string): string {
  const apiUrl = options.apiUrl ?? usual;
  if (apiUrl.startsWith("https:") || isLoopback(apiUrl)) return apiUrl;
  throw new UsageError("--api-url must be https: otherwise the token is sent unencrypted");
}

/** The token from the options or else `configured`, which `variable` sets. */
export function tokenOf(
  { options }: Registration,
  variable: string,
  configured: string | null | undefined,
): string {
  const given = (options.token ?? configured ?? "").trim();
  if (given === "") {
    throw new UsageError(`An API token is required: set ${variable}, or pass --token`);
  }
  // `fetch` would quote a token with other characters in its error.
  if (/^[\x21-\x7e]+$/.test(given)) return given;
  throw new UsageError("The API token contains invalid characters");
}

/** Checked before the request: the response may contain a secret that is shown only once. */
export function requireWritable({ config: { secretsDir } }: Registration): void {
  try {
    mkdirSync(secretsDir, { recursive: true, mode: 0o700 });
    accessSync(secretsDir, constants.W_OK);
  } catch (error) {
    throw new Error(
      `SECRETS_DIR ${secretsDir} is not writable (${messageOf(error)}), so nothing was registered`,
      { cause: error },
    );
  }
}

/**
 * Checked before the request: the server must read what is stored, and a new secret would drop the previous one, which the
 * provider may still sign with.
 */
export async function requireStorable({ provider, config, env }: Registration): Promise<void> {
  const { secretsDir } = config;
  await findRegistered(provider.id, config);
  requireNoVariable(provider.id, secretsDir, env);
  if (!secretStore(env, secretsDir).hasPreviousFile(provider.id)) return;
  const { file } = secretPlaces(provider.id, secretsDir).previous;
  throw new UsageError(
    `${file} is still accepted and would be replaced, so nothing was registered. When \`${programName} doctor\` says that it is safe to remove, delete it and try again.`,
  );
}

export function printRequest(url: string, contentType: string, body: string): void {
  console.log(`POST ${url}\nAuthorization: Bearer <token>\nContent-Type: ${contentType}\n`);
  console.log(body);
}

/** Stores a secret that the provider made. Prints its place, never the secret. */
export function storeSecret(
  registration: Registration,
  secret: string,
  webhookId: string | null,
): void {
  const { provider, config, env } = registration;
  const { current, previous } = secretPlaces(provider.id, config.secretsDir);
  const isRotation = existsSync(current.file);
  let file: string;
  try {
    file = secretStore(env, config.secretsDir).storeWebhookSecret(provider.id, secret, "current");
  } catch (error) {
    throw new Error(
      `The webhook ${webhookId ?? ""} was created, but its secret could not be stored (${messageOf(error)}): delete the webhook at the provider and try again`,
      { cause: error },
    );
  }
  printEnd(registration, "registered", webhookId);
  console.log(`its secret is in ${file}`);
  if (isRotation) {
    console.log(
      `the previous secret is in ${previous.file} and still accepted; delete it with the old webhook`,
    );
  }
  printReload();
}

export function printEnd(
  { env }: Registration,
  what: "registered" | "updated",
  webhookId: string | null,
): void {
  const paint = painter(env);
  console.log(`${paint("green", what)} ${webhookId ?? ""}`.trimEnd());
}

export function printReload(): void {
  console.log("to load it, send the server kill -HUP <pid>, or restart it");
}
