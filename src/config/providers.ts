import { FileError } from "../base/file-error.ts";
import { type GuardedFetch, guardedFetch } from "../base/guarded-fetch.ts";
import { systemResolve } from "../base/public-address.ts";
import { catalogue } from "../inbound/providers/catalogue.ts";
import { readProviderFolder } from "../inbound/providers/files/folder.ts";
import type { Provider } from "../inbound/providers/provider.ts";
import { rulesFor } from "../outbound/transports/address.ts";

import type { Config } from "./config.ts";
import { ConfigError } from "./errors.ts";

/** Names in paths, events, metrics and the console that are no provider's. */
export const reservedIds = ["bookings", "catalogue", "new", "skyhook", "unknown"];

/**
 * The registered providers: the built-in ones that `WEBHOOK_PROVIDERS` names, then those of all provider files. Throws a `ConfigError`
 * that names every error of every file.
 */
export function registeredProviders(
  config: Pick<Config, "providers" | "providersDir">,
): readonly Provider[] {
  const files = fileProviders(config);
  return [...withoutThoseOf(files).filter(({ id }) => config.providers.includes(id)), ...files];
}

/** All providers that can be named: the built-in ones, registered or not, and those of provider files. */
export function knownProviders(config: Pick<Config, "providersDir">): readonly Provider[] {
  const files = fileProviders(config);
  return [...withoutThoseOf(files), ...files];
}

/** The built-in providers whose place no file takes. */
function withoutThoseOf(files: readonly Provider[]): readonly Provider[] {
  return catalogue.filter(({ id }) => files.every((file) => file.id !== id));
}

/**
 * Fetches what provider files and requests name, such as keys. Files are the operators', so private addresses are allowed
 * where those of their destinations are.
 */
export function providersFetch({
  destinationsAllowPrivate,
}: Pick<Config, "destinationsAllowPrivate">): GuardedFetch {
  const { allowsPrivate } = rulesFor(destinationsAllowPrivate, null);
  return guardedFetch({ allowsPrivate, resolve: systemResolve });
}

function fileProviders({ providersDir }: Pick<Config, "providersDir">): readonly Provider[] {
  try {
    return readProviderFolder(providersDir, reservedIds);
  } catch (error) {
    if (error instanceof FileError) throw new ConfigError(...error.messages);
    throw error;
  }
}
