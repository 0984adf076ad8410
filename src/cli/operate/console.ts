import { type Command, Option } from "commander";

import { systemClock } from "../../base/clock.ts";
import type { Role } from "../../base/context.ts";
import { urlHere } from "../../base/loopback.ts";
import { readConfig } from "../../config/config.ts";
import {
  codeTtlSeconds,
  consoleNameRule,
  mintConsoleCode,
  readConsoleName,
} from "../../identity/auth/console-codes.ts";
import { argument, example } from "../kit/arguments.ts";
import { messageOf } from "../kit/errors.ts";
import { note } from "../kit/output.ts";
import { isItRunning, localUrl, request } from "../kit/request.ts";
import { serverOption } from "../kit/server-api.ts";
import { serverSigning } from "../kit/signing-key.ts";

interface ConsoleOptions {
  readonly server?: string;
  readonly role: Role;
  readonly name?: string;
  readonly open?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("console")
    .description("print a link that signs in to the console, once and within two minutes")
    .addOption(
      new Option("--role <role>", "role of the session")
        .choices(["operator", "admin"])
        .default("operator"),
    )
    .addOption(
      new Option(
        "--name <name>",
        "who signs in, for the audit list; by default your user name",
      ).argParser(argument(parseName)),
    )
    .addOption(serverOption())
    .option("--open", "also open it; other users see it briefly in the process list")
    .addHelpText("after", example("skyhook console", 'skyhook console --role admin --name "Ada"'))
    .action((options: ConsoleOptions) => consoleCommand(options, env));
}

/**
 * `skyhook console`: prints a link to the console that signs in once, within two minutes. The code is in the
 * fragment, behind the `#`, which browsers do not send to servers.
 */
async function consoleCommand(
  { server: given, role, name: givenName, open }: ConsoleOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const name = givenName ?? userName(env);
  const server = given ?? localUrl(config);
  // The host that `serve` prints: a browser keeps its session for that host only.
  const address = `${given ?? urlHere(config.host, config.port)}/console`;
  if (config.jwksUrl !== null) {
    note(
      "JWKS_URL is set, so only tokens of that identity provider are accepted. Open the console and paste one.",
    );
    console.log(address);
    return;
  }
  const code = await mintConsoleCode(serverSigning(config), role, systemClock, name);
  const link = `${address}#code=${code}`;
  note(
    `Signs in once, as ${name === null ? role : `${name} (${role})`}, within ${codeTtlSeconds / 60} minutes:`,
  );
  console.log(link);
  // The code is valid even if the server does not answer yet.
  await request(`${server}/livez`, {}, isItRunning).catch((error: unknown) => {
    note(`warning: ${messageOf(error)}`);
  });
  if (open === true) openInBrowser(link);
}

export function parseName(text: string): string {
  const name = readConsoleName(text);
  if (name === null) throw new Error(`Write ${consoleNameRule}.`);
  return name;
}

/** The name of who runs this, also by sudo; null where the system does not say it, as in containers. */
function userName({ SUDO_USER, USER, USERNAME }: NodeJS.ProcessEnv): string | null {
  return readConsoleName(SUDO_USER ?? USER ?? USERNAME ?? "");
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  linux: ["xdg-open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens a link in the system's browser. Without one, says so; the link is already printed. */
function openInBrowser(link: string): void {
  const [command, ...options] = openers[process.platform] ?? [];
  const path = command === undefined ? null : Bun.which(command);
  if (path === null) {
    note("No browser found: open the link yourself.");
    return;
  }
  const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
  Bun.spawn([path, ...options, link], quiet).unref();
}
