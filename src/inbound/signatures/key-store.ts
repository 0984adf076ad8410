import { setNewest } from "../../base/bounded-map.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { GuardedFetch } from "../../base/guarded-fetch.ts";
import { isLoopback } from "../../base/loopback.ts";

import { fetchedKeys, type PublishedKey } from "./fetched-key.ts";
import { hostMatches, pathMatches } from "./hosts.ts";
import type { KeySource } from "./scheme.schema.ts";

/** Which key of a source is wanted. */
export interface WantedKey {
  readonly url: string;
  /** The key id that a token names. */
  readonly kid: string | null;
  /** The provider's secret, for sources that need credentials. */
  readonly secret: string;
}

/** The published keys that fit a request; null if there are none. */
type Found = readonly PublishedKey[] | null;

/** Fetches and caches the public keys of services. */
export interface KeyStore {
  /**
   * A promise only if the keys are not cached. Null if the service has no such key, or the URL is not one that keys may be fetched
   * from. Throws `unavailable` if it cannot be fetched.
   */
  find(source: KeySource, wanted: WantedKey): Found | Promise<Found>;
  /** A request verified with the key: from now on, keys that strangers name cannot evict it. */
  confirm(source: KeySource, wanted: WantedKey): void;
}

/** For commands that use no network: no key is available. */
export const noKeys: KeyStore = {
  find() {
    throw notAvailable("this command fetches none");
  },
  confirm() {},
};

const defaultCacheMinutes = 60;
/** Keys of one provider that requests verified with. As many others, failures and unknown keys are remembered, apart from these. */
const maxKeys = 64;
/** Providers with keys, and their versions: beyond the largest number of provider files, the least recently used go. */
const maxGroups = 400;
/** A failed fetch, and a key that a service does not have, are not tried again for this long. */
const failureMs = 5_000;
/** For each provider. Anyone can send requests that name keys, so they must not cause any number of requests. */
const maxFetchesPerMinute = 30;

interface Cached {
  readonly keys: readonly PublishedKey[];
  readonly untilMs: number;
}

/** The keys of one provider, and what was tried. Other providers cannot evict them. */
interface Group {
  /** Keys with which a request verified. Only the service can add to them. */
  readonly confirmed: Map<string, Cached>;
  /** Other keys of the service. Anyone can have any of them fetched. */
  readonly fetched: Map<string, Cached>;
  readonly pending: Map<string, Promise<Found>>;
  readonly failedAtMs: Map<string, number>;
  readonly unknownAtMs: Map<string, number>;
  /** When keys were fetched in the last minute. */
  fetches: readonly number[];
}

/** `fetchKey` decides which addresses may be fetched from. */
export function keyStore(clock: Clock, fetchKey: GuardedFetch): KeyStore {
  const groups = new Map<string, Group>();

  function groupOf(source: KeySource, { secret }: WantedKey): Group {
    // Equal after a reload, and other for other credentials.
    const name = new Bun.CryptoHasher("sha256").update(JSON.stringify([source, secret]));
    const digest = name.digest("base64");
    const group = groups.get(digest) ?? newGroup();
    setNewest(groups, digest, group, maxGroups);
    return group;
  }

  function isRecent(times: ReadonlyMap<string, number>, name: string): boolean {
    const time = times.get(name);
    return time !== undefined && clock.now() - time < failureMs;
  }

  function requireBudget(group: Group, name: string): void {
    const now = clock.now();
    if (isRecent(group.failedAtMs, name)) throw notAvailable("it failed just now");
    // A confirmed key is fetched again even while strangers use up the budget.
    if (group.confirmed.has(name)) return;
    const fetches = group.fetches.filter((time) => now - time < 60_000);
    if (fetches.length >= maxFetchesPerMinute) throw notAvailable("too many keys were asked for");
    group.fetches = [...fetches, now];
  }

  async function load(group: Group, name: string, source: KeySource, wanted: WantedKey) {
    try {
      const response = await responseOf(fetchKey, source, wanted);
      const keys = fetchedKeys(source, response, wanted.kid, clock.now());
      if (keys === null) {
        group.confirmed.delete(name);
        group.fetched.delete(name);
        setNewest(group.unknownAtMs, name, clock.now(), maxKeys);
        return null;
      }
      const minutes = source.cacheMinutes ?? defaultCacheMinutes;
      const cached = { keys, untilMs: clock.now() + minutes * 60_000 };
      if (group.confirmed.has(name)) group.confirmed.set(name, cached);
      else setNewest(group.fetched, name, cached, maxKeys);
      return keys;
    } catch (error) {
      setNewest(group.failedAtMs, name, clock.now(), maxKeys);
      throw notAvailable("fetching it failed", error);
    } finally {
      group.pending.delete(name);
    }
  }

  return {
    find(source, wanted) {
      if (!mayFetch(source, wanted.url)) return null;
      const group = groupOf(source, wanted);
      const name = nameOf(source, wanted);
      const cached = group.confirmed.get(name) ?? group.fetched.get(name);
      if (cached !== undefined && clock.now() < cached.untilMs) return cached.keys;
      if (isRecent(group.unknownAtMs, name)) return null;
      const running = group.pending.get(name);
      if (running !== undefined) return running;
      requireBudget(group, name);
      const loading = load(group, name, source, wanted);
      group.pending.set(name, loading);
      return loading;
    },
    confirm(source, wanted) {
      const group = groupOf(source, wanted);
      const name = nameOf(source, wanted);
      const cached = group.fetched.get(name);
      if (cached === undefined) return;
      group.fetched.delete(name);
      setNewest(group.confirmed, name, cached, maxKeys);
    },
  };
}

function newGroup(): Group {
  return {
    confirmed: new Map(),
    fetched: new Map(),
    pending: new Map(),
    failedAtMs: new Map(),
    unknownAtMs: new Map(),
    fetches: [],
  };
}

/** Equal for equal keys. Anyone can write any key id, so it counts only where it chooses the key. */
function nameOf({ format, post = {} }: KeySource, { url, kid }: WantedKey): string {
  const isChosen = format === "jwks" || Object.values(post).some((text) => text.includes("{kid}"));
  return `${isChosen ? (kid ?? "") : ""} ${url}`;
}

/** Only https, and plain http to this machine; never a host that a request chose. */
function mayFetch(source: KeySource, text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (source.from === undefined) return url.protocol === "https:" || isLoopback(url.href);
  // Each spelling of a URL, and each query, would be fetched and cached by itself.
  if (url.href !== text || /[?#]/.test(text)) return false;
  if (source.path !== undefined && !pathMatches(source.path, url.pathname)) return false;
  const isPinned = (source.hosts ?? []).some((pattern) => hostMatches(pattern, url.hostname));
  return isPinned && url.protocol === "https:" && url.port === "";
}

async function responseOf(
  fetchKey: GuardedFetch,
  { post }: KeySource,
  { url, kid, secret }: WantedKey,
): Promise<string> {
  const [user = "", password = ""] = secret.split(/:(.*)/s);
  const filled = (text: string) =>
    text
      .replaceAll("{kid}", () => kid ?? "")
      .replaceAll("{user}", () => user)
      .replaceAll("{password}", () => password);
  const body =
    post === undefined
      ? null
      : JSON.stringify(
          Object.fromEntries(Object.entries(post).map(([name, text]) => [name, filled(text)])),
        );
  const headers = { "content-type": "application/json" };
  const init = body === null ? {} : { method: "POST", body, headers };
  const { ok, status, text } = await fetchKey(new URL(url), init);
  if (!ok) throw new Error(`The response has the status ${status}`);
  return text;
}

function notAvailable(why: string, cause?: unknown): AppError {
  const detail = "The key that verifies this webhook is not available. Retry later.";
  const reason = new Error(`No key of the provider: ${why}`, { cause });
  return new AppError("unavailable", detail, { retryAfterSeconds: 10, cause: reason });
}
