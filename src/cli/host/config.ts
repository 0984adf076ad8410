import type { Command } from "commander";

import { type Environment, findSetting, readConfig } from "../../config/config.ts";
import { registeredProviders } from "../../config/providers.ts";
import { secretPlaces, secretStore } from "../../config/secrets.ts";
import { settings } from "../../config/settings.ts";
import { withoutPassword } from "../../db/without-password.ts";
import { example } from "../kit/arguments.ts";
import { jsonOption, type ListOptions, printLines } from "../kit/lists.ts";
import { painter, table } from "../kit/output.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("config")
    .description("print every setting with its value, default and meaning")
    .addOption(jsonOption())
    .addHelpText("after", example("skyhook config --json"))
    .action((options: ListOptions) => config(options, env));
}

/** `skyhook config`: prints each setting's value and meaning. */
export function config({ json }: ListOptions, env: Environment): void {
  const facts = factsOf(env);
  if (json === true) return printLines([...facts.settings, ...facts.webhookSecrets]);
  const paint = painter(env);
  for (const { key, value, default: fallback, meaning } of facts.settings) {
    const usual = fallback === null || fallback === value ? "" : ` (default ${fallback})`;
    console.log(`${key}  ${value ?? "-"}${paint("dim", usual)}\n${wrapped(meaning)}`);
  }
  const secrets = facts.webhookSecrets.map(({ provider, file, state }) => [
    provider,
    file,
    state === "missing" ? paint("yellow", state) : state,
  ]);
  console.log(`\n${table([["PROVIDER", "FILE OF THE SECRET", "STATE"], ...secrets])}`);
  console.log(
    "\nA variable named as the file in capitals replaces it, such as CODE_HOST_WEBHOOK_SECRET.\nDuring a rotation, the old secret has the same names with _PREVIOUS or _previous.",
  );
}

/** Indented lines of at most 100 columns. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,96})(?: |$)/g, "    $1\n").trimEnd();
}

/** The same as data. Throws a `ConfigError` if a setting or a secret is invalid. */
function factsOf(env: Environment) {
  const inForce = readConfig(env);
  const store = secretStore(env, inForce.secretsDir);
  return {
    settings: Object.values(settings).map((setting) => {
      const { key, default: fallback, isSecret } = setting;
      // Links within the docs lead nowhere in a terminal.
      const doc = setting.doc.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
      const text =
        key === settings.databaseUrl.key
          ? inForce.databaseUrl
          : (findSetting(setting, env)?.text ?? fallback);
      const value = shown(text, isSecret);
      return { key, value, default: fallback, meaning: doc, secret: isSecret };
    }),
    webhookSecrets: registeredProviders(inForce).map(({ id: provider }) => {
      const { variable, file } = secretPlaces(provider, inForce.secretsDir).current;
      const secrets = store.webhookSecrets(provider);
      const source = env[variable] === undefined ? "set in the file" : "set in the environment";
      return {
        provider,
        variable,
        file,
        state: secrets === null ? "missing" : source,
        previous: secrets !== null && secrets.previous !== null,
      };
    }),
  };
}

/** A value without secrets and without the password of a URL. */
function shown(value: string | null, isSecret: boolean): string | null {
  if (value === null) return null;
  return isSecret ? "(set)" : withoutPassword(value);
}
