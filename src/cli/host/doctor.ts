import type { Command } from "commander";

import { systemClock } from "../../base/clock.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { ConfigError } from "../../config/errors.ts";
import { misspeltSettings } from "../../config/misspelt.ts";
import { example } from "../kit/arguments.ts";
import { jsonOption, type ListOptions, printLines } from "../kit/lists.ts";
import { painter, table } from "../kit/output.ts";

import { checkDatabase } from "./checks/database.ts";
import { bad, type Finding, good, odd } from "./checks/finding.ts";
import { checkFolders } from "./checks/folders.ts";
import { checkPersonalDataKey } from "./checks/personal-data.ts";
import { checkSecrets } from "./checks/secrets.ts";
import { checkServer } from "./checks/server.ts";
import { checkTimeZones } from "./checks/time-zones.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("doctor")
    .description("check everything that a start depends on; changes nothing")
    .addOption(jsonOption())
    .addHelpText("after", example("skyhook doctor"))
    .action((options: ListOptions) => doctor(env, options));
}

/** `skyhook doctor`: checks everything that a start depends on. Changes nothing. */
export async function doctor(env: NodeJS.ProcessEnv, { json }: ListOptions = {}): Promise<void> {
  const findings = await examine(env);
  const count = (level: Finding["level"]) => findings.filter((one) => one.level === level).length;
  if (count("bad") > 0) process.exitCode = 1;
  if (json === true) return printLines(findings);
  const paint = painter(env);
  const marks = { good: paint("green", "✓"), odd: paint("yellow", "!"), bad: paint("red", "✗") };
  console.log(table(findings.map(({ level, about, detail }) => [marks[level], about, detail])));
  if (count("bad") + count("odd") > 0) {
    console.log(`\n${count("bad")} to fix (✗), ${count("odd")} to check (!)`);
  }
}

async function examine(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    // Without a valid configuration, nothing else can be checked.
    if (error instanceof ConfigError)
      return error.messages.map((message) => bad("configuration", message));
    throw error;
  }
  return [
    good("configuration", "valid"),
    ...misspeltSettings(env).map((warning) => odd("configuration", warning)),
    ...checkFolders(config, env),
    checkTimeZones(config, new Date(systemClock.now())),
    ...checkPersonalDataKey(config, env),
    ...(await checkSecrets(config, env)),
    ...(await checkDatabase(config, env)),
    ...(await checkServer(config, env)),
  ];
}
