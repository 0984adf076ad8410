import type { Command } from "commander";

import { accessSync, constants, existsSync, mkdirSync } from "node:fs";

import { readConfig } from "../config/config.ts";
import { secretPlaces, secretStore } from "../config/secrets.ts";
import { idAt, printable, textAt } from "../gateway/providers/payload.ts";

import { argument, example } from "./arguments.ts";
import { messageOf } from "./failures.ts";
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

/** The one provider with a call for it; the others are set up by hand, as the specification says. */
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

/** `skyhook register`: makes the webhook at the provider and stores the secret that it answers with. */
export async function register(
  providerId: string,
  options: RegisterOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { id, setUp = "make the webhook in its own settings" } = findProvider(providerId);
  if (id !== registrable) {
    throw new UsageError(
      `${id} has no call for this: ${setUp}. Only ${registrable} can be registered`,
    );
  }
  const { apiUrl } = options;
  const target = `${apiUrl}/v1/webhooks`;
  if (options.url === undefined) throw new UsageError("--url <url> is needed");
  const url = webhookUrl(options.url);
  const body = JSON.stringify({ url, events });
  if (!apiUrl.startsWith("https:") && !isLoopback(apiUrl)) {
    throw new UsageError("--api-url must be https: the token would be sent for all to read");
  }
  if (isLoopback(url)) {
    console.error(`warning: ${url} is this machine's own address, which no provider can reach`);
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

/** The gateway's URL for the provider, whether the base or all of it was given. */
function webhookUrl(given: string): string {
  const path = `/webhooks/${registrable}`;
  return given.endsWith(path) ? given : `${given}${path}`;
}

function tokenFrom({ token }: RegisterOptions, env: NodeJS.ProcessEnv): string {
  const given = (token ?? env["DEPLOY_API_TOKEN"] ?? "").trim();
  if (given === "") {
    throw new UsageError("An API token is needed: set DEPLOY_API_TOKEN, or give it by --token");
  }
  // What cannot stand in a header would come back in an error message, token and all.
  if (!/^[\x21-\x7e]+$/.test(given))
    throw new UsageError("The API token has characters of no token");
  return given;
}

/** Before the call: its answer holds a secret that is shown only once. */
function requireWritable(secretsDir: string): void {
  try {
    mkdirSync(secretsDir, { recursive: true, mode: 0o700 });
    accessSync(secretsDir, constants.W_OK);
  } catch (error) {
    throw new Error(
      `SECRETS_DIR ${secretsDir} cannot be written (${messageOf(error)}): nothing was registered`,
      { cause: error },
    );
  }
}

/** Stores the secret that was answered. Prints where, never what. */
function store(id: string, answer: Answer, secretsDir: string, env: NodeJS.ProcessEnv): void {
  const { secret, webhookId } = secretIn(answer);
  const { current, previous } = secretPlaces(id, secretsDir);
  const isRotation = existsSync(current.file);
  let file: string;
  try {
    file = secretStore(env, secretsDir).storeWebhookSecret(id, secret);
  } catch (error) {
    throw new Error(
      `The webhook ${webhookId ?? ""} was made, but its secret could not be stored (${messageOf(error)}): delete the webhook at the provider and try again`,
      { cause: error },
    );
  }
  const paint = painter(env);
  console.log(`${paint("green", "registered")} ${webhookId ?? ""}`.trimEnd());
  console.log(`its secret is in ${file}`);
  if (isRotation) {
    console.log(
      `the one before is in ${previous.file} and still accepted; delete it when the old webhook is gone`,
    );
  }
  if (env[current.variable] !== undefined) {
    console.error(`warning: ${current.variable} is set and wins over the file: unset it`);
  }
  console.log("have `skyhook serve` read it: kill -HUP <its pid>, or start it again");
}

function secretIn(answer: Answer): { readonly secret: string; readonly webhookId: string | null } {
  if (!answer.ok) throw new Error(refusal(answer));
  if (answer.json === null) {
    throw new Error(
      `The platform answers ${answer.status}, but no JSON object: is --api-url that of its API?`,
    );
  }
  const { secret } = answer.json;
  if (typeof secret === "string" && secret.trim() !== "") {
    return { secret: secret.trim(), webhookId: idAt(answer.json, "id") };
  }
  throw new Error(
    "The platform's answer has no secret, so nothing was stored: delete the webhook there and try again",
  );
}

function refusal(answer: Answer): string {
  const { status, location, json } = answer;
  const said = printable(textAt(json, "error", "message") ?? problemOf(answer), 200);
  if (status === 401) return `The platform refuses the token (401: ${said}): make a new one there`;
  if (status === 403) {
    return `The platform forbids it (403: ${said}): account-level webhooks need a paid plan, and the token must be allowed to make them`;
  }
  if (status >= 300 && status < 400) {
    return `The platform answers ${status} and points to ${location ?? "nowhere"}: give that as --api-url`;
  }
  if (status === 404) return `The platform answers 404 (${said}): is --api-url that of the API?`;
  return `The platform answers ${status}: ${said}`;
}
