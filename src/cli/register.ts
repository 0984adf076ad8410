import type { Command } from "commander";

import { accessSync, constants, existsSync, mkdirSync } from "node:fs";

import { readConfig } from "../config/config.ts";
import { secretPlaces, secretStore } from "../config/secrets.ts";
import { idAt, printable, textAt } from "../gateway/providers/payload.ts";

import { argument, example } from "./arguments.ts";
import { messageOf } from "./errors.ts";
import { painter, UsageError } from "./output.ts";
import { findProvider } from "./provider.ts";
import { type Answer, isLoopback, parseBaseUrl, problemOf, request } from "./request.ts";

interface RegisterOptions {
  /** The gateway's public base URL, or that of the webhook itself. */
  readonly url?: string;
  readonly apiUrl: string;
  readonly token?: string;
  readonly dryRun?: true;
}

/** The only provider with an API for this. The others are set up by hand, as the specification says. */
const registrable = "deploy_platform";
const events = [
  "deployment.created",
  "deployment.succeeded",
  "deployment.error",
  "deployment.canceled",
];

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("register")
    .description("create the webhook at deploy_platform and store its secret")
    .argument("<provider>", registrable)
    // Required, but checked later: a provider without an API for this is reported first.
    .option("--url <url>", "public URL of this gateway; required", argument(parseBaseUrl))
    // https://vercel.com/docs/rest-api
    .option(
      "--api-url <url>",
      "base URL of the platform's API",
      argument(parseBaseUrl),
      "https://api.vercel.com",
    )
    .option("--token <token>", "API token; DEPLOY_API_TOKEN hides it from the process list")
    .option("--dry-run", "print the request without the token; do not send it")
    .addHelpText(
      "after",
      example("skyhook register deploy_platform --url https://hooks.example.com"),
    )
    .action((provider: string, options: RegisterOptions) => register(provider, options, env));
}

/** `skyhook register`: creates the webhook at the provider and stores the secret in the response. */
export async function register(
  providerId: string,
  options: RegisterOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { id, setUp = "create the webhook in its own settings" } = findProvider(providerId);
  if (id !== registrable) {
    throw new UsageError(
      `${id} has no API for this: ${setUp}. Only ${registrable} can be registered`,
    );
  }
  const { apiUrl } = options;
  const target = `${apiUrl}/v1/webhooks`;
  if (options.url === undefined) throw new UsageError("--url <url> is required");
  const url = webhookUrl(options.url);
  const body = JSON.stringify({ url, events });
  if (!apiUrl.startsWith("https:") && !isLoopback(apiUrl)) {
    throw new UsageError("--api-url must be https: otherwise the token is sent unencrypted");
  }
  if (isLoopback(url)) {
    console.error(
      `warning: ${url} is an address of this machine only, which no provider can reach`,
    );
  }
  if (options.dryRun) {
    console.log(`POST ${target}\nAuthorization: Bearer <token>\nContent-Type: application/json\n`);
    console.log(body);
    return;
  }
  const token = tokenFrom(options, env);
  const { secretsDir } = readConfig(env);
  requireWritable(secretsDir);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await request(target, { method: "POST", headers, body }, "check --api-url");
  store(id, answer, secretsDir, env);
}

/** The gateway's URL for the provider, from the base URL or the complete one. */
function webhookUrl(given: string): string {
  const path = `/webhooks/${registrable}`;
  return given.endsWith(path) ? given : `${given}${path}`;
}

function tokenFrom({ token }: RegisterOptions, env: NodeJS.ProcessEnv): string {
  const given = (token ?? env["DEPLOY_API_TOKEN"] ?? "").trim();
  if (given === "") {
    throw new UsageError("An API token is required: set DEPLOY_API_TOKEN, or pass --token");
  }
  // `fetch` would quote a token with other characters in its error.
  if (!/^[\x21-\x7e]+$/.test(given))
    throw new UsageError("The API token contains invalid characters");
  return given;
}

/** Checked before the request: the response contains a secret that is shown only once. */
function requireWritable(secretsDir: string): void {
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

/** Stores the secret of the response. Prints its place, never the secret. */
function store(id: string, answer: Answer, secretsDir: string, env: NodeJS.ProcessEnv): void {
  const { secret, webhookId } = secretIn(answer);
  const { current, previous } = secretPlaces(id, secretsDir);
  const isRotation = existsSync(current.file);
  let file: string;
  try {
    file = secretStore(env, secretsDir).storeWebhookSecret(id, secret);
  } catch (error) {
    throw new Error(
      `The webhook ${webhookId ?? ""} was created, but its secret could not be stored (${messageOf(error)}): delete the webhook at the provider and try again`,
      { cause: error },
    );
  }
  const paint = painter(env);
  console.log(`${paint("green", "registered")} ${webhookId ?? ""}`.trimEnd());
  console.log(`its secret is in ${file}`);
  if (isRotation) {
    console.log(
      `the previous secret is in ${previous.file} and still accepted; delete it with the old webhook`,
    );
  }
  if (env[current.variable] !== undefined) {
    console.error(`warning: ${current.variable} is set and overrides the file: unset it`);
  }
  console.log("to load it, send the server kill -HUP <pid>, or restart it");
}

function secretIn(answer: Answer): { readonly secret: string; readonly webhookId: string | null } {
  if (!answer.ok) throw new Error(explained(answer));
  if (answer.json === null) {
    throw new Error(
      `The platform's response ${answer.status} is not a JSON object: check --api-url`,
    );
  }
  const { secret } = answer.json;
  if (typeof secret === "string" && secret.trim() !== "") {
    return { secret: secret.trim(), webhookId: idAt(answer.json, "id") };
  }
  throw new Error(
    "The platform's response has no secret, so nothing was stored: delete the webhook there and try again",
  );
}

function explained(answer: Answer): string {
  const { status, location, json } = answer;
  const said = printable(textAt(json, "error", "message") ?? problemOf(answer), 200);
  if (status === 401)
    return `The platform rejects the token (401: ${said}): create a new one there`;
  if (status === 403) {
    return `The platform forbids it (403: ${said}): account-level webhooks need a paid plan, and a token with the permission to create them`;
  }
  if (status >= 300 && status < 400) {
    return `The platform redirects (${status}) to ${location ?? "nowhere"}: pass that as --api-url`;
  }
  if (status === 404) return `The platform answers 404 (${said}): check --api-url`;
  return `The platform answers ${status}: ${said}`;
}
