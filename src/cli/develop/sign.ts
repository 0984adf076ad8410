import type { Command } from "commander";

import { readConfig } from "../../config/config.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import { contentTypes } from "../../inbound/providers/signed-sample.ts";
import type { SigningKey } from "../../inbound/signatures/keys.ts";
import { ownSignatureHeader, signedUnder } from "../../inbound/signatures/scheme.ts";
import { signedHeaders } from "../../inbound/signatures/sign.ts";
import { argument, collect, example, parseHeaders } from "../kit/arguments.ts";
import { messageOf } from "../kit/errors.ts";
import { findKnown, secretOption, secretsOf, signingKeyOf } from "../kit/find-provider.ts";
import { readBody } from "../kit/input.ts";
import { localUrl, parseBaseUrl } from "../kit/request.ts";

interface SignOptions {
  readonly header?: readonly string[];
  readonly secret?: string;
  readonly url?: string;
  readonly curl?: string;
  /** Names the signature's header as the service does. */
  readonly ownHeader?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("sign")
    .description("sign a body as its provider would, and print the headers")
    .argument("<provider>", "for example code_host")
    .argument("<file>", "file with the exact body; - for standard input")
    .option("--header <line>", "a header as 'name: value'; repeatable", collect)
    .option("--secret <secret>", secretOption)
    .option("--url <url>", "the URL to post to, if the provider signs it")
    .option("--curl <url>", "print a curl command for this server instead", argument(parseBaseUrl))
    .option("--own-header", "use the service's own header name, like x-hub-signature-256")
    .addHelpText(
      "after",
      example("skyhook sign code_host body.json --header 'x-github-event: pull_request'"),
    )
    .action((provider: string, file: string, options: SignOptions) =>
      sign(provider, file, options, env),
    );
}

/** `skyhook sign`: prints the headers with which a server accepts a body, or a command that posts it. */
export async function sign(
  providerId: string,
  file: string,
  { header = [], secret, url, curl, ownHeader }: SignOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const provider = await findKnown(providerId, config);
  const { secretsDir, publicUrl } = config;
  const secrets = secretsOf(provider, secret, secretsDir, env);
  const key = signingKeyOf(provider, secrets, secretsDir, env);
  const target = curl === undefined ? undefined : webhookUrl(curl, provider, key);
  const signedUrl = url ?? target ?? webhookUrl(publicUrl ?? localUrl(config), provider, key);
  const request = { headers: parseHeaders(header), bytes: await readBody(file), url: signedUrl };
  const { signature } = provider;
  const own = ownHeader === true ? ownSignatureHeader(signature) : null;
  const scheme = own === null ? signature : signedUnder(signature, own);
  const headers = signedFileHeaders({ ...provider, signature: scheme }, key, request, Date.now());
  if (target === undefined) {
    for (const [name, value] of Object.entries(headers)) console.log(`${name}: ${value}`);
    return;
  }
  const given = Object.entries(headers).map(
    ([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`,
  );
  const data = `--data-binary ${shellQuoted(`@${file}`)}`;
  console.log(["curl -sS", ...given, data, shellQuoted(target)].join(" "));
}

/** A server's address with the path of a provider; an address with a path is used as it is. */
function webhookUrl(base: string, { id, signature }: Provider, { secret }: SigningKey): string {
  const end = signature.kind === "url" ? `/${secret}` : "";
  return new URL(base).pathname === "/" ? `${base.replace(/\/$/, "")}/webhooks/${id}${end}` : base;
}

/** All headers to post a body with, signature included. Throws if the signature is not in a header. */
export function signedFileHeaders(
  { id, signature, payload }: Provider,
  key: SigningKey,
  {
    headers: given,
    bytes,
    url,
  }: { readonly headers: Headers; readonly bytes: Uint8Array; readonly url: string },
  atMs: number,
): Record<string, string> {
  const headers = {
    "content-type": contentTypes[payload ?? "object"],
    ...Object.fromEntries(given),
  };
  try {
    const request = { method: "POST", url, headers, bytes };
    return { ...headers, ...signedHeaders(signature, key, request, atMs) };
  } catch (error) {
    throw new Error(
      `A body of ${id} cannot be signed: ${messageOf(error)}. Pass missing values with --header`,
      { cause: error },
    );
  }
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
