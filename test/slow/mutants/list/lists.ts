import type { Mutant } from "../mutant.ts";

export const lists: readonly Mutant[] = [
  // Lists return every item once.
  {
    name: "cursor-inclusive",
    breaks: "a page starts after the last item of the page before",
    changes: [
      [
        "src/db/part.ts",
        "item: [sql`(${createdAt}, ${id}) ${sign} (",
        "item: [sql`(${createdAt}, ${id}) ${sign}= (",
      ],
    ],
    noticedBy: [
      "test/events/operator-api.test.ts",
      "can be paged to the end and back with the Link header",
    ],
  },
  {
    name: "cursor-without-id",
    breaks: "items of the same millisecond are each on one page",
    changes: [
      [
        "src/db/part.ts",
        `item: [sql\`(\${createdAt}, \${id}) \${sign} (\${time}, \${sql.placeholder("id")})\``,
        `item: [sql\`\${createdAt} \${sign} \${time} or \${sql.placeholder("id")} is null\``,
      ],
    ],
    noticedBy: ["test/db/storage.test.ts", "have each item of one millisecond once"],
  },
  {
    name: "order-without-id",
    breaks: "items of the same millisecond have one order",
    changes: [
      [
        "src/db/keyset.ts",
        ".orderBy(direction(createdAt), direction(id))",
        ".orderBy(direction(createdAt))",
      ],
    ],
    noticedBy: [
      "test/db/storage.test.ts",
      "items of one millisecond are in the order of their ids, with or without an index",
    ],
  },
  {
    name: "full-page-has-more",
    breaks: "the last page says that it is the last",
    changes: [
      ["src/db/paginate.ts", "rows.length > request.limit", "rows.length >= request.limit"],
    ],
    noticedBy: [
      "test/db/storage.test.ts",
      "have more only if an item follows, also when they are full",
    ],
  },
  {
    name: "cursor-of-another-list",
    breaks: "a cursor of another list is rejected",
    changes: [
      [
        "src/base/cursor.ts",
        `typeof id === "string" && prefixOf(id) === idPrefix`,
        `typeof id === "string" && typeof idPrefix === "string"`,
      ],
    ],
    noticedBy: ["test/events/operator-api.test.ts", "reject a cursor from another list"],
  },
  {
    name: "rejections-of-any-time",
    breaks: "a time range limits the list of rejected deliveries at both ends",
    changes: [
      [
        "src/inbound/rejections/rejections.ts",
        "rejectionPages(storage, filters, { from, to })",
        "rejectionPages(storage, filters, { from })",
      ],
    ],
    noticedBy: [
      "test/inbound/rejections/rejections.test.ts",
      "counts and pages within a time range",
    ],
  },
];
