import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Command } from "commander";

import { FileError } from "../../base/file-error.ts";
import { programName } from "../../base/program-name.ts";
import { readConfig, readSetting } from "../../config/config.ts";
import { ConfigError } from "../../config/errors.ts";
import { knownProviders, registeredProviders, reservedIds } from "../../config/providers.ts";
import { secretPlaces } from "../../config/secrets.ts";
import { settings } from "../../config/settings.ts";
import { catalogue } from "../../inbound/providers/catalogue.ts";
import { catalogueFile, catalogueFiles } from "../../inbound/providers/files/catalogue-files.ts";
import {
  createProviderFile,
  ProviderFileExists,
  providerIdOf,
  readProvider,
} from "../../inbound/providers/files/folder.ts";
import type { ProviderFile } from "../../inbound/providers/files/provider-file.schema.ts";
import { readProviderFile } from "../../inbound/providers/files/provider-file.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import { formOf } from "../../inbound/rejections/form.ts";
import { schemeName } from "../../inbound/signatures/scheme-name.ts";
import { coversBody, hasSharedSecret, signaturePlaces } from "../../inbound/signatures/scheme.ts";
import { argument, example, parseProviderId } from "../kit/arguments.ts";
import { findProvider } from "../kit/find-provider.ts";
import { jsonOption, type ListOptions, printList } from "../kit/lists.ts";
import { painter, table, UsageError } from "../kit/output.ts";

import { checkProvider } from "./provider-check.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const provider = program.command("provider").description("add providers without code");
  provider
    .command("add")
    .description("write the provider file of a service from the catalogue")
    .argument("<name>", `a service; \`${programName} provider list --catalogue\` lists them`)
    .option(
      "--id <id>",
      "name of the file and of the provider; default: the service",
      argument(parseProviderId),
    )
    .addHelpText("after", example("skyhook provider add slack"))
    .action((name: string, options: { readonly id?: string }) => add(name, options, env));
  provider
    .command("list")
    .description("list the registered providers")
    .option("--catalogue", "list the services that `provider add` knows")
    .addOption(jsonOption())
    .addHelpText("after", example("skyhook provider list --catalogue"))
    .action((options: ListOptions & { readonly catalogue?: true }) =>
      options.catalogue === true ? listCatalogue(options) : listRegistered(options, env),
    );
  provider
    .command("show")
    .description("show how deliveries of a provider are verified, and its events")
    .argument("<provider>", "for example code_host or github")
    .addHelpText("after", example("skyhook provider show code_host"))
    .action((id: string) => show(id, env));
  provider
    .command("check")
    .description("check a provider file, without a network")
    .argument("<file>", "a YAML or JSON file")
    .addHelpText("after", example("skyhook provider check providers/slack.yaml"))
    .action((file: string) => check(file, env));
}

/** `skyhook provider add`: writes `<id>.yaml` into PROVIDERS_DIR and prints what to do next. */
function add(name: string, options: { readonly id?: string }, env: NodeJS.ProcessEnv): void {
  const given = options.id ?? name;
  if (catalogue.some((builtIn) => builtIn.id === given)) {
    throw new UsageError(`${given} is built in: a file cannot have this name`);
  }
  const text = Object.hasOwn(catalogueFiles, name) ? catalogueFiles[name] : undefined;
  if (text === undefined) {
    throw new UsageError(`There is no "${name}" in the catalogue. ${closest(name)}`);
  }
  const file = write(given, `${origin(name, given)}\n${text}`, env);
  console.log(`${painter(env)("green", "wrote")} ${file}\n`);
  console.log(nextSteps(given, readProviderFile(file, text), env));
}

function origin(name: string, given: string): string {
  const option = given === name ? "" : ` --id ${given}`;
  return `# Written by \`skyhook provider add ${name}${option}\`. Change it as you like.`;
}

function write(given: string, text: string, env: NodeJS.ProcessEnv): string {
  try {
    return createProviderFile(readSetting(settings.providersDir, env) ?? "", given, text);
  } catch (error) {
    if (!(error instanceof ProviderFileExists)) throw error;
    throw new Error(`${error.path} exists. Remove it, or choose another name with --id`, {
      cause: error,
    });
  }
}

function nextSteps(given: string, file: ProviderFile, env: NodeJS.ProcessEnv): string {
  const places = secretPlaces(given, readSetting(settings.secretsDir, env) ?? "").current;
  const publicUrl = readSetting(settings.publicUrl, env) ?? "https://<host>";
  const [sample = ""] = Object.keys(file.samples);
  // With a public key, only the service can sign.
  const attempt = hasSharedSecret(file.signature)
    ? `${programName} send ${given} ${sample}`
    : "from the service";
  const steps = [
    ["1. store the secret", `${programName} secrets set ${given}`],
    ["", `(in ${places.file}; or set the variable ${places.variable})`],
    ["2. load it", "kill -HUP <pid>, or restart the server"],
    [`3. at ${file.displayName}`, `enter ${publicUrl}/webhooks/${given}`],
    ["4. try it", attempt],
  ];
  return [
    table(steps),
    "",
    knownEvents(file),
    file.setUp ?? "",
    `Checked with: ${file.checkedWith ?? "nothing"}`,
    `Documented at ${file.docs ?? ""}`,
  ].join("\n");
}

function knownEvents({ events }: ProviderFile): string {
  if (Object.hasOwn(events, "*")) return "Operators are notified of every event.";
  const all = Object.values(events);
  const notifying = all.filter(({ notify }) => notify !== false).length;
  return `The file knows ${all.length} events and notifies operators of ${notifying}. Others are stored only.`;
}

/** `skyhook provider check`: reads a file as a server does, then judges its samples and changes of them. */
async function check(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const paint = painter(env);
  if (!existsSync(file)) {
    const inFolder = join(readSetting(settings.providersDir, env) ?? "", `${file}.yaml`);
    const hint = existsSync(inFolder) ? ` Did you mean ${inFolder}?` : " Name a YAML or JSON file.";
    throw new UsageError(`The file ${file} does not exist.${hint}`);
  }
  let provider: Provider;
  try {
    provider = readProvider(providerIdOf(file, reservedIds), file);
  } catch (error) {
    if (error instanceof FileError) throw new ConfigError(...error.messages);
    throw error;
  }
  const { attempts, failures, notes } = await checkProvider(provider);
  for (const failure of failures) console.log(`${paint("red", "✗")} ${failure}`);
  for (const note of notes) console.log(`${paint("yellow", "!")} ${note}`);
  if (failures.length > 0) process.exitCode = 1;
  else
    console.log(`${paint("green", "✓")} ${file} is valid: ${attempts} attempts judged as expected`);
  if (!coversBody(provider.signature)) {
    console.log(`${paint("yellow", "!")} weaker: the proof does not cover the whole body`);
  }
}

/** `skyhook provider show`. */
function show(id: string, env: NodeJS.ProcessEnv): void {
  const config = readConfig(env);
  const provider = findProvider(id, knownProviders(config));
  const { signature, samples, deliveryIdIsSigned, maxBodyBytes } = provider;
  const isRegistered = registeredProviders(config).some((each) => each.id === provider.id);
  const { file, variable } = secretPlaces(provider.id, config.secretsDir).current;
  const rows = [
    ["name", provider.displayName],
    ["from", provider.path ?? "built in"],
    ["registered", isRegistered ? "yes" : "no: add it to WEBHOOK_PROVIDERS"],
    ["signature", schemeName(signature)],
    ["sent in", signaturePlaces(signature).join(", ")],
    ["form", formOf(signature)],
    ["covers", coversBody(signature) ? "the whole body" : "not the whole body (weaker)"],
    ["delivery id", deliveryIdIsSigned ? "signed" : "not signed: equal bytes are duplicates"],
    ["largest body", `${maxBodyBytes} bytes`],
    ["secret", `${file}, or ${variable}`],
    ["samples", Object.keys(samples).join(", ")],
    ["checked with", provider.checkedWith ?? ""],
    ["documented at", provider.docs ?? ""],
  ];
  console.log(table(rows.filter(([, value]) => value !== "")));
}

function listRegistered(options: ListOptions, env: NodeJS.ProcessEnv): void {
  const found = registeredProviders(readConfig(env)).map(
    ({ id: provider, displayName: service, signature, path: from = "built in" }) => ({
      provider,
      service,
      signature: schemeName(signature),
      from,
    }),
  );
  const columns = {
    provider: "provider",
    service: "service",
    signature: "signature",
    from: "from",
  };
  printList(found, columns, options);
}

/** Names that are near a misspelt one, or how to list all. */
function closest(name: string): string {
  const near = Object.keys(catalogueFiles).filter(
    (known) => known.includes(name) || name.includes(known) || known.startsWith(name.slice(0, 3)),
  );
  if (near.length > 0) return `Did you mean ${near.join(" or ")}?`;
  return `\`${programName} provider list --catalogue\` lists all names`;
}

function listCatalogue(options: ListOptions): void {
  const found = Object.entries(catalogueFiles).map(([name, text]) => {
    const file = catalogueFile(text);
    const checkedWith = (file.checkedWith ?? "").replace(/[.;,] .*/s, "");
    return { name, service: file.displayName, signature: schemeName(file.signature), checkedWith };
  });
  const columns = {
    name: "name",
    service: "service",
    signature: "signature",
    "checked with": "checkedWith",
  };
  printList(found, columns, options);
}
