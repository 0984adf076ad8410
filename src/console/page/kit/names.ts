import { createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";

import { useInterval } from "./live.ts";
import { useLoad } from "./load.ts";
import { words } from "./text.tsx";
import type { Providers } from "./wire.ts";

/** The names that people know, by the providers' ids. */
export type Names = ReadonlyMap<string, string>;

export const NamesContext = createContext<Names>(new Map());

/** Sources of events that are no providers. */
export const ownSources = ["bookings", "skyhook"];

const pollIntervalMs = 60_000;

/** Loads the names of the providers, and again from time to time: one may be added. */
export function useProviderNames(): Names {
  const { value, reload } = useLoad<Providers>("v1/providers");
  useInterval(reload, pollIntervalMs);
  return useMemo(
    () => new Map(value?.data.map(({ provider, displayName }) => [provider, displayName])),
    [value],
  );
}

export const nameIn = (names: Names, id: string): string =>
  names.get(id) ?? (ownSources.includes(id) ? words(id) : id);

/** The name of a provider. */
export const useName = (id: string): string => nameIn(useContext(NamesContext), id);
