import { type Static, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";

import type { Filters } from "../base/filters.ts";
import { defaultLimit, maxLimit, maxOffsetRows, type Page } from "../base/page.ts";

import { filterParameters } from "./filters.schema.ts";
import { count, documented, flag, listOf, nullable, resource, text, word } from "./schema.ts";

const cursor = "eyJjcmVhdGVkQXQiOiIyMDI2LTEyLTAxVDIzOjI1OjAwLjAwMFoiLCJpZCI6ImJrXzEifQ";

const paginationSchema = resource("Pagination", "The position of the page in its list.", {
  hasMore: flag("Whether more items follow in the requested direction."),
  nextCursor: nullable(text("Cursor to older items; null on an empty page.", cursor)),
  prevCursor: nullable(text("Cursor to newer items; null on an empty page.", cursor)),
  total: Type.Optional(
    count("The number of items in the whole list. Only with `include=total`.", 1),
  ),
}) satisfies TUnsafe<Page<unknown>["pagination"]>;

/** The schema of a page, named after its items. */
export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Unsafe<Page<Static<Item>>>(
    Type.Object(
      { data: listOf(item, { description: "Newest first." }), pagination: paginationSchema },
      { $id: `${String(item.$id)}Page`, description: "One page of a list." },
    ),
  );

/** The query parameters of every list. */
const pageParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: defaultLimit,
      description: `Items per page. Values above ${maxLimit} count as ${maxLimit}.`,
    }),
  ),
  cursor: Type.Optional(text("Where to continue: `nextCursor` or `prevCursor` of another page.")),
  direction: Type.Optional(
    word(["forward", "backward"], {
      description:
        "`forward` to older items, `backward` to newer ones. `backward` without a cursor returns the last page.",
    }),
  ),
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `Page number from 1, instead of a cursor. page × limit must not exceed ${maxOffsetRows}.`,
    }),
  ),
  include: Type.Optional(
    word(["total"], { description: "Counts the whole list, which is slow for long lists." }),
  ),
};

export const pageQuery = documented(Type.Object(pageParameters));

/** What a list can add to its items, for `include`. */
export interface Included<Extra extends string> {
  readonly words: readonly Extra[];
  readonly description: string;
  readonly examples: readonly string[];
}

/** The query parameters of a list with filters. */
export function listQuery(filters: Filters, included: Included<string> | undefined) {
  const include = included && {
    include: Type.Optional(text(included.description, ...included.examples)),
  };
  return documented(Type.Object({ ...pageParameters, ...include, ...filterParameters(filters) }));
}
