import createFetchClient, { type Client as FetchClient } from "openapi-fetch";

import { errorOf } from "./errors.ts";
import { type FeedMessage, type FeedOptions, follow } from "./feed.ts";
import { type ClientOptions, sender } from "./requests.ts";

/** The lists among the paths, and what they hold. */
interface List<Item> {
  readonly get: {
    readonly responses: {
      readonly 200: {
        readonly content: {
          readonly "application/json": { readonly data: Item[]; readonly pagination: unknown };
        };
      };
    };
  };
}
type ItemOf<Path> = Path extends List<infer Item> ? Item : never;
export type ListPath<Paths> = {
  [Path in keyof Paths]: Paths[Path] extends List<unknown> ? Path : never;
}[keyof Paths];
type ParamsOf<Path> = Path extends { readonly get: { readonly parameters: infer Params } }
  ? Params
  : never;
type QueryOf<Path> =
  ParamsOf<Path> extends { readonly query?: infer Query } ? NonNullable<Query> : never;
type PathParamsOf<Path> =
  ParamsOf<Path> extends { readonly path: infer Values } ? { readonly path: Values } : unknown;

/** What narrows a list, and the signal that ends it. */
export type ListOptions<Path> = PathParamsOf<Path> & {
  readonly query?: Omit<QueryOf<Path>, "cursor" | "page" | "direction"> | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** `GET`, `POST`, … as openapi-fetch has them, the items of lists, and the feeds. */
export interface Client<Paths extends {}> extends FetchClient<Paths> {
  /** All items of a list, page by page as they are used. Throws a `SkyhookError`. */
  items<Path extends ListPath<Paths> & string>(
    path: Path,
    options?: ListOptions<Paths[Path]>,
  ): AsyncGenerator<ItemOf<Paths[Path]>, void>;
  /** New notifications; for operators. Ends when the signal aborts. Throws a `SkyhookError`. */
  notifications(options?: FeedOptions): AsyncGenerator<FeedMessage, void>;
  /** New events, with filters as those of the list; for operators. */
  events(
    options?: FeedOptions & { readonly query?: Readonly<Record<string, string>> | undefined },
  ): AsyncGenerator<FeedMessage, void>;
}

/** A client for an API with these paths. `keyed`: those whose POST takes an Idempotency-Key. */
export function createClientFor<Paths extends {}>(
  options: ClientOptions,
  keyed: readonly string[],
): Client<Paths> {
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  const send = sender(options, keyed);
  const api = createFetchClient<Paths>({ baseUrl, fetch: send });

  async function* items(
    path: string,
    { path: values = {}, query = {}, signal }: ListOptionsUntyped = {},
  ): AsyncGenerator<unknown, void> {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(values[name])),
    );
    let cursor: string | null = null;
    do {
      const asked = new URLSearchParams();
      for (const [name, value] of Object.entries({ ...query, cursor })) {
        if (value !== null && value !== undefined) asked.set(name, String(value));
      }
      const request = new Request(`${baseUrl}${filled}?${asked.toString()}`, {
        signal: signal ?? null,
      });
      const response = await send(request);
      const body: unknown = await response.json().catch(() => null);
      if (!response.ok) throw errorOf(response.status, body);
      // Guarantee: the type of `path` says that it is a list.
      const { data, pagination } = body as Page;
      yield* data;
      cursor = pagination.hasMore ? pagination.nextCursor : null;
    } while (cursor !== null);
  }

  return {
    ...api,
    // Guarantee: `items` yields what the list holds.
    items: items as Client<Paths>["items"],
    notifications: (feed) => follow(send, `${baseUrl}/v1/feed`, feed),
    events({ query, ...feed } = {}) {
      const asked = query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
      return follow(send, `${baseUrl}/v1/events/feed${asked}`, feed);
    },
  };
}

interface ListOptionsUntyped {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Page {
  readonly data: readonly unknown[];
  readonly pagination: { readonly hasMore: boolean; readonly nextCursor: string | null };
}
