import { FileError } from "../../../base/file-error.ts";
import { lazy } from "../../../base/lazy.ts";
import { problemsIn, rulesOfEach } from "../../../base/value-problem.ts";
import { providerById } from "../catalogue.ts";
import type { Interpretation, Provider, VerifiedRequest } from "../provider.ts";

import type * as Catalogue from "./catalogue-files.ts";
import { checkedFile } from "./checked-file.ts";
import { describer } from "./describe.ts";
import { type Extension, extensionSchema } from "./extension.schema.ts";
import {
  dataFieldsOf,
  fileProvider,
  notification,
  readHeaders,
  samplesOf,
} from "./file-provider.ts";
import type { ProviderFile } from "./provider-file.schema.ts";
import { fileProblems } from "./provider-file.ts";

// Loaded on first use: most servers do not need it.
const inCatalogue = lazy(() => {
  // Guarantee: the module that the type is of.
  return require("./catalogue-files.ts") as typeof Catalogue;
});

/** Whether the text is a file that extends another provider, as far as can be told without a check. */
export function isExtension(text: string): boolean {
  return /^(?:extends|\s*\{?\s*"extends") *:/m.test(text);
}

/** Reads the file of an extension as a provider. Throws a `FileError` that names every error. */
export function extendedProvider(id: string, path: string, text: string): Provider {
  const file = checkedFile(path, text, extensionSchema, (found) => problemsOf(id, found));
  const builtIn = providerById(file.extends);
  const base = baseFile(file);
  const extended =
    builtIn === undefined
      ? fileProvider(id, path, base)
      : extendedBuiltIn(builtIn, { ...base, samples: file.samples ?? {} });
  const { displayName = extended.displayName, docs, setUp } = file;
  return {
    ...extended,
    id,
    path,
    displayName,
    ...(docs !== undefined && { docs }),
    ...(setUp !== undefined && { setUp }),
  };
}

/**
 * The file of the extended provider with the events of both. Of a built-in provider, which has none, a file with the new
 * events only.
 */
function baseFile({
  extends: name,
  displayName = name,
  events,
  samples = {},
}: Extension): ProviderFile {
  const builtIn = providerById(name);
  if (builtIn !== undefined)
    return { displayName, signature: builtIn.signature, event: "", events, samples };
  const { catalogueFiles, catalogueFile } = inCatalogue();
  const text = Object.hasOwn(catalogueFiles, name) ? catalogueFiles[name] : undefined;
  // The caller checked the name.
  if (text === undefined) throw new FileError(`There is no provider ${name}`);
  const file = catalogueFile(text);
  return {
    ...file,
    events: { ...file.events, ...events },
    samples: { ...file.samples, ...samples },
  };
}

function problemsOf(id: string, file: Extension) {
  const { extends: name, events } = file;
  const builtIn = providerById(name);
  const isKnown = builtIn !== undefined || Object.hasOwn(inCatalogue().catalogueFiles, name);
  const own = providerById(id);
  const known = builtIn === undefined ? [] : Object.keys(builtIn.samples);
  const paid = builtIn?.payments === undefined ? [] : Object.keys(builtIn.payments.events);
  const found = problemsIn({
    extends: {
      [`There is no provider ${name}, neither built in nor in the catalogue`]: !isKnown,
      [`${id} is built in: give the file another name, or write "extends: ${id}"`]:
        own !== undefined && name !== id,
    },
    events: rulesOfEach(Object.entries(events), ([type, event]) => ({
      [type]: {
        [`${name} notifies of ${type} already: leave it out`]: known.includes(type),
        [`Write another type: ${event.type ?? type} is about payments`]: paid.includes(
          event.type ?? type,
        ),
      },
    })),
  });
  return isKnown && found.length === 0 ? fileProblems(baseFile(file)) : found;
}

/** A built-in provider that also notifies of the events of a file. */
function extendedBuiltIn(base: Provider, file: ProviderFile): Provider {
  const describers = new Map(
    Object.entries(file.events).map(([type, event]) => [
      type,
      describer({ ...file, event: type, events: { [type]: event } }),
    ]),
  );
  const types = new Set(Object.entries(file.events).map(([type, event]) => event.type ?? type));
  const interpret = (request: VerifiedRequest): Interpretation => {
    const found = base.interpret(request);
    const describe = found.status === "ignored" ? describers.get(found.type) : undefined;
    return describe === undefined ? found : merged(found, describe(request));
  };
  return {
    ...base,
    interpret,
    data: { ...base.data, ...dataFieldsOf(file) },
    readHeaders: [...new Set([...(base.readHeaders ?? []), ...readHeaders(file)])].toSorted(),
    types: [...(base.types ?? Object.keys(base.samples)), ...types],
    notify: [
      (event, notice) => (types.has(event.type) ? notification(event, notice) : null),
      ...base.notify.map(
        (notify): Provider["notify"][number] =>
          (event, notice) =>
            types.has(event.type) ? null : notify(event, notice),
      ),
    ],
    samples: { ...base.samples, ...samplesOf(file) },
  };
}

/** What identifies the event is the provider's; what people see is the file's, where it says something. */
function merged(found: Interpretation, described: Interpretation): Interpretation {
  return {
    ...described,
    deliveryId: found.deliveryId,
    // The name is listed now.
    ...(found.unsignedName !== undefined && { unsignedName: found.type }),
    occurredAt: described.occurredAt ?? found.occurredAt,
    subject: described.subject ?? found.subject,
    url: described.url ?? found.url,
    actor: described.actor ?? found.actor,
    data: { ...found.data, ...described.data },
  };
}
