import { type Static, type TSchema, Type } from "@sinclair/typebox";

import { count, documented, listOf, nullable, schemaOf, text, word } from "./schema.ts";

import { defaultLimit, maxLimit, maxOffsetRows, type Page } from "../../base/page.ts";

const cursor = "eyJjcmVhdGVkQXQiOiIyMDI2LTEyLTAxVDIzOjI1OjAwLjAwMFoiLCJpZCI6ImJrXzEifQ";

const paginationSchema = schemaOf<Page<unknown>["pagination"]>()(
  "Pagination",
  "Where the page stands in its list.",
  {
    hasMore: Type.Boolean({ description: "Whether more items follow in the direction of travel." }),
    nextCursor: nullable(text("Leads to older items; null on an empty page.", cursor)),
    prevCursor: nullable(text("Leads to newer items; null on an empty page.", cursor)),
    total: Type.Optional(count("Items in the whole list; only with `include=total`.", 1)),
  },
);

/** One page of a list, named after its items. */
export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Unsafe<Page<Static<Item>>>(
    Type.Object(
      { data: listOf(item, { description: "Newest first." }), pagination: paginationSchema },
      { $id: `${String(item.$id)}Page`, description: "One page of a list." },
    ),
  );

/** The query parameters of every list. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: defaultLimit,
      description: `Items a page; above ${maxLimit} is taken as ${maxLimit}.`,
    }),
  ),
  cursor: Type.Optional(text("Where to go on: `nextCursor` or `prevCursor` of an earlier page.")),
  direction: Type.Optional(
    word(["forward", "backward"], {
      description:
        "`forward` to older items, `backward` to newer ones; without a cursor the last page.",
    }),
  ),
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `Which page, from 1, instead of a cursor; page × limit goes to ${maxOffsetRows}.`,
    }),
  ),
  include: Type.Optional(
    word(["total"], { description: "Counts the list, which takes its time." }),
  ),
};

export const pageQuery = documented(Type.Object(pageParameters));
