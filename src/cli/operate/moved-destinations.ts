import { at, isObject, isTrueAt, itemsAt, type JsonObject, textAt } from "../../base/payload.ts";
import { programName } from "../../base/program-name.ts";
import { byBrand } from "../../inbound/providers/brand.ts";
import { catalogue } from "../../inbound/providers/catalogue.ts";
import { catalogueFiles } from "../../inbound/providers/files/catalogue-files.ts";

/** The products whose lists can be read, with what their lists hold, as their APIs answer. */
const products = {
  /** `GET /connections`, or `hookdeck connection list --output json`. */
  hookdeck: { places: ["models"], read: hookdeckConnection },
  /** `GET /api/v1/app/{app_id}/endpoint`. */
  svix: { places: ["data"], read: svixEndpoint },
  /** `GET /api/v1/projects/{project_id}/subscriptions`. */
  convoy: { places: ["data", "content"], read: convoySubscription },
} as const;

type Product = keyof typeof products;

/** One of theirs, as `apply` takes it. */
interface Moved {
  readonly name: string;
  readonly url: unknown;
  readonly format: "json" | "original";
  readonly filter: string | null;
  readonly ratePerSecond?: number | null;
  readonly maxConcurrent?: number | null;
  readonly state: "active" | "paused" | "disabled";
  /** What was there and has no place here, with what to do instead. */
  readonly lost: readonly (string | null)[];
}

/** The destinations file for a list of another product, and a line for everything that it could not carry over. */
export function movedDestinations(product: Product, text: string) {
  const { places, read } = products[product];
  const list = jsonIn(text);
  const items = Array.isArray(list) ? list : at(list, ...places);
  if (!Array.isArray(items)) {
    throw new Error(`This is no list of ${product}: ${places.join(".")} is missing`);
  }
  const names = new Set<string>();
  const lost: string[] = [];
  const destinations = items.filter(isObject).flatMap((item) => {
    const { lost: missing, url, ...moved } = read(item);
    const name = unique(slug(moved.name), names);
    for (const each of missing) if (each !== null) lost.push(`${name}: ${each}`);
    if (typeof url !== "string") {
      lost.push(`${name}: left out, because it has no URL`);
      return [];
    }
    const given = Object.entries({ ...moved, name, url }).filter(([, value]) => value !== null);
    return [Object.fromEntries(given)];
  });
  if (hasNextPage(list)) {
    lost.push("The list has further pages: convert those too");
  }
  return { text: Bun.YAML.stringify({ destinations }, null, 2), lost };
}

/** Svix ends with `done`, Convoy with `has_next_page: false`, Hookdeck without `next`. */
const hasNextPage = (list: unknown): boolean =>
  (!isTrueAt(list, "done") && textAt(list, "iterator") !== null) ||
  isTrueAt(list, "data", "pagination", "has_next_page") ||
  textAt(list, "pagination", "next") !== null;

const laterEvents = `its event types are kept as they are called there; \`${programName} events types\` lists those of Skyhook`;
const othersLost = (item: JsonObject, hints: Readonly<Record<string, string>>) =>
  Object.entries(hints).map(([path, hint]) =>
    isEmpty(at(item, ...path.split("."))) ? null : hint,
  );

/** Without a filter, it would receive what was never meant for it. */
const unknownSource = (from: string) =>
  `its source ${from} is no known provider, so it is disabled; add the provider and a filter, then enable it`;

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === false ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);

const filterHint =
  "its filter reads the provider's payload; write one in CEL over event and notification";
const transformHint = "its transformation; format json takes a template";
const retryHint = "its retry rule; set retryDelays";
const ruleHints: ReadonlyMap<string, string> = new Map([
  ["filter", filterHint],
  ["transform", transformHint],
  ["retry", retryHint],
  ["delay", "its delay; deliveries are sent at once"],
  ["deduplicate", "its deduplication; a webhook is stored once by the provider's id"],
]);

function hookdeckConnection(item: JsonObject): Moved {
  const [source, destination] = [at(item, "source"), at(item, "destination")];
  const from = textAt(source, "name") ?? "";
  const provider = providerOf(textAt(source, "type") ?? "") ?? providerOf(from);
  const config = at(destination, "config");
  const kind = textAt(destination, "type") ?? "HTTP";
  const limit = Number(at(config, "rate_limit") ?? at(destination, "rate_limit") ?? 0);
  const period = textAt(config, "rate_limit_period") ?? "second";
  const rules = itemsAt(item, "rules").map((rule) => textAt(rule, "type") ?? "");
  const name = [textAt(destination, "name"), textAt(item, "name")].find((each) => each !== null);
  return {
    name: name ?? "destination",
    url: at(config, "url") ?? at(destination, "url"),
    format: "original",
    filter: provider === null ? null : `event.provider == "${provider}"`,
    ...(period === "concurrent" ? { maxConcurrent: limited(limit, 64) } : perSecond(limit, period)),
    state: stateOf(
      provider === null || !isEmpty(at(item, "disabled_at")),
      !isEmpty(at(item, "paused_at")),
    ),
    lost: [
      provider === null ? unknownSource(from) : null,
      kind === "HTTP"
        ? null
        : `a destination of type ${kind}; use \`${programName} listen\` instead`,
      ...rules.map((rule) => ruleHints.get(rule) ?? `its rule ${rule}`),
      ...othersLost(item, {
        "destination.config.auth": "its authentication; set headers",
        "destination.auth_method": "its authentication; set headers",
      }),
    ],
  };
}

function svixEndpoint(item: JsonObject): Moved {
  const types = filterOf(at(item, "filterTypes"));
  return {
    name: textAt(item, "uid") ?? textAt(item, "description") ?? hostOf(item) ?? "endpoint",
    url: at(item, "url"),
    format: "json",
    filter: types,
    ratePerSecond: limited(Number(at(item, "rateLimit") ?? 0), 1_000),
    state: stateOf(isTrueAt(item, "disabled"), false),
    lost: [
      types === null ? null : laterEvents,
      ...othersLost(item, {
        channels: "its channels; write a filter over event.data",
        metadata: "its metadata",
        headers: "its headers; set headers",
      }),
      "its secret; apply prints a new one, which the receiver verifies in the same way",
    ],
  };
}

function convoySubscription(item: JsonObject): Moved {
  const endpoint = at(item, "endpoint_metadata");
  const from = textAt(item, "source_metadata", "name");
  const provider = from === null ? null : providerOf(from);
  const isUnknown = from !== null && provider === null;
  const isIncoming = textAt(item, "type") === "incoming" || from !== null;
  const types = filterOf(at(item, "filter_config", "event_types"));
  const ofProvider = provider === null ? null : `event.provider == "${provider}"`;
  const limit = Number(at(endpoint, "rate_limit") ?? 0);
  const seconds = goSeconds(textAt(endpoint, "rate_limit_duration") ?? "");
  return {
    name: textAt(item, "name") ?? textAt(endpoint, "name") ?? "subscription",
    url: at(endpoint, "url") ?? at(endpoint, "target_url"),
    format: isIncoming ? "original" : "json",
    filter: [ofProvider, types].filter((each) => each !== null).join(" && ") || null,
    ratePerSecond: limited(limit / seconds, 1_000),
    state: stateOf(
      isUnknown || textAt(endpoint, "status") === "inactive",
      textAt(endpoint, "status") === "paused",
    ),
    lost: [
      isUnknown ? unknownSource(from) : null,
      types === null ? null : laterEvents,
      ...othersLost(item, {
        "filter_config.filter.body": filterHint,
        "filter_config.filter.headers": "its filter over headers; filters do not read them",
        function: transformHint,
        retry_config: retryHint,
        rate_limit_config: "its own rate limit; that of the endpoint is kept",
        "endpoint_metadata.authentication": "its authentication; set headers",
      }),
    ],
  };
}

function filterOf(types: unknown): string | null {
  const names = Array.isArray(types) ? types.filter((type) => typeof type === "string") : [];
  if (names.length === 0 || names.includes("*")) return null;
  return `event.type in [${names.map((name) => JSON.stringify(name)).join(", ")}]`;
}

/** The provider of a source: by its id, its service or a file that comes with the program. */
function providerOf(given: string): string | null {
  const name = given.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  const known = catalogue.find(({ id }) => id === name) ?? byBrand(given, catalogue);
  return known?.id ?? (Object.hasOwn(catalogueFiles, name) ? name : null);
}

const stateOf = (isDisabled: boolean, isPaused: boolean) =>
  isDisabled ? "disabled" : isPaused ? "paused" : "active";

const secondsOf: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600 };

const perSecond = (limit: number, period: string) => ({
  ratePerSecond: limited(limit / (secondsOf[period] ?? 1), 1_000),
});

/** `1m0s`, or a number of seconds. */
function goSeconds(duration: string): number {
  const parts = [...duration.matchAll(/(\d+)([hms]?)/g)];
  return (
    parts.reduce(
      (sum, [, count, unit = ""]) => sum + Number(count) * (unitSeconds[unit] ?? 1),
      0,
    ) || 1
  );
}
const unitSeconds: Readonly<Record<string, number>> = { h: 3_600, m: 60 };

/** A whole number that is allowed; null without a limit. */
const limited = (limit: number, most: number): number | null =>
  limit > 0 ? Math.min(most, Math.max(1, Math.floor(limit))) : null;

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The file is not JSON: save the list as the API answers it");
  }
}

const hostOf = (item: JsonObject): string | null =>
  URL.parse(textAt(item, "url") ?? "")?.hostname ?? null;

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[^a-z0-9]+|-+$/g, "")
    .slice(0, 56) || "destination";

function unique(name: string, taken: Set<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}-${count}`;
  taken.add(free);
  return free;
}
