import { type Column, type SQL, sql } from "drizzle-orm";

import { foreignCursor } from "../base/cursor.ts";
import { firstPositionAt, placeIn, timeOfPosition } from "../base/ids.ts";
import type { Position } from "../base/page.ts";

import type { Window } from "./paginate.ts";
import { encoded } from "./statement.ts";

/** The part of a list by time: `from` is inclusive, `to` is exclusive. */
export interface TimeRange {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Whether a page starts at the first item, at an instant, or after an item. */
type PositionKind = "start" | "time" | "item";

/** The part of a list that a statement reads. Statements depend on `kind` and `isBounded` only. */
export interface Part {
  readonly kind: PositionKind;
  /** Whether it ends before the list does. */
  readonly isBounded: boolean;
  readonly values: {
    readonly createdAt: Date | null;
    readonly id: string | number | null;
    readonly bound: Date | null;
  };
}

/** The items in a time range after a position. Where both limit the start, the closer one does. */
export function partOf<Id extends string | number>(
  { order, from }: Pick<Window<Id>, "order" | "from">,
  range: TimeRange,
): Part {
  const isNewestFirst = order === "newest-first";
  const [start, bound] = isNewestFirst ? [range.to, range.from] : [range.from, range.to];
  const end = { isBounded: bound !== undefined, bound: bound ?? null };
  const isBeyond = (at: Date) => (isNewestFirst ? start && start <= at : start && start > at);
  if (start !== undefined && (from === null || isBeyond(from.createdAt) === true)) {
    return {
      kind: "time",
      isBounded: end.isBounded,
      values: { createdAt: start, id: null, bound: end.bound },
    };
  }
  const kind = from === null ? "start" : from.id === null ? "time" : "item";
  const values = { createdAt: from?.createdAt ?? null, id: from?.id ?? null, bound: end.bound };
  return { kind, isBounded: end.isBounded, values };
}

export function shapeOf({ kind, isBounded }: Part): string {
  return isBounded ? `${kind} bounded` : kind;
}

/** How a list is ordered: newest first is descending. */
export interface ListOrder<Tables> {
  columns(tables: Tables): readonly Column[];
  /** True for the rows of a part. */
  terms(tables: Tables, order: Window["order"], part: Part): SQL[];
  values(part: Part): object;
  /** The columns that tell the position of a row. */
  position(tables: Tables): Readonly<Record<"createdAt" | "id", SQL>>;
  /** True for the row with the values `last` and the newer ones. */
  untilLast(tables: Tables): SQL;
  last(row: Position<string | number> | null): object;
}

/** Compares row values, which both databases seek by index. */
export function byTime<Tables>(
  columnsOf: (tables: Tables) => Partial<Readonly<Record<"createdAt" | "id", Column>>>,
): ListOrder<Tables> {
  const keyOf = (tables: Tables) => {
    const { createdAt, id } = columnsOf(tables);
    if (createdAt === undefined || id === undefined) throw new Error("A list has no order");
    return { createdAt, id };
  };
  return {
    columns: (tables) => Object.values(keyOf(tables)),
    terms: (tables, order, part) => partTerms(keyOf(tables), order, part),
    values: (part) => part.values,
    position(tables) {
      const { createdAt, id } = keyOf(tables);
      return {
        createdAt: sql`${createdAt}`.mapWith((value: unknown) =>
          createdAt.mapFromDriverValue(value),
        ),
        id: sql`${id}`,
      };
    },
    untilLast(tables) {
      const { createdAt, id } = keyOf(tables);
      const lastCreatedAt = encoded(sql.placeholder("lastCreatedAt"), createdAt);
      return sql`(${createdAt}, ${id}) >= (${lastCreatedAt}, ${sql.placeholder("lastId")})`;
    },
    last: (row) => ({ lastCreatedAt: row?.createdAt, lastId: row?.id }),
  };
}

/** Compares the positions of which ids are made. */
export function byPosition<Tables>(columnOf: (tables: Tables) => Column): ListOrder<Tables> {
  const positionIn = (id: string | number) => {
    if (typeof id === "number") return id;
    const place = placeIn(id.slice(0, id.indexOf("_")), id);
    if (place === null) throw foreignCursor();
    return place.position;
  };
  const firstAt = (at: Date | null) => (at === null ? null : firstPositionAt(at.getTime()));
  return {
    columns: (tables) => [columnOf(tables)],
    terms(tables, order, { kind, isBounded }) {
      const column = columnOf(tables);
      const isNewestFirst = order === "newest-first";
      // SQLite's full-text index seeks integers only.
      const [at, bound] = ["at", "bound"].map(
        (name) => sql`cast(${sql.placeholder(name)} as bigint)`,
      );
      const after = sql.raw(kind === "time" ? ">=" : ">");
      const start = isNewestFirst ? sql`${column} < ${at}` : sql`${column} ${after} ${at}`;
      const end = isNewestFirst ? sql`${column} >= ${bound}` : sql`${column} < ${bound}`;
      return [...(kind === "start" ? [] : [start]), ...(isBounded ? [end] : [])];
    },
    values: ({ values: { createdAt, id, bound } }) => ({
      at: id === null ? firstAt(createdAt) : positionIn(id),
      bound: firstAt(bound),
    }),
    position(tables) {
      const column = columnOf(tables);
      return {
        createdAt: sql`${column}`.mapWith(timeOfPosition),
        id: sql`${column}`.mapWith(Number),
      };
    },
    untilLast: (tables) => sql`${columnOf(tables)} >= ${sql.placeholder("last")}`,
    last: (row) => ({ last: row?.id }),
  };
}

function partTerms(
  { createdAt, id }: Readonly<Record<"createdAt" | "id", Column>>,
  order: Window["order"],
  { kind, isBounded }: Part,
): SQL[] {
  const isNewestFirst = order === "newest-first";
  const time = encoded(sql.placeholder("createdAt"), createdAt);
  const bound = encoded(sql.placeholder("bound"), createdAt);
  const sign = isNewestFirst ? sql.raw("<") : sql.raw(">");
  const starts = {
    start: [],
    time: [isNewestFirst ? sql`${createdAt} < ${time}` : sql`${createdAt} >= ${time}`],
    item: [sql`(${createdAt}, ${id}) ${sign} (${time}, ${sql.placeholder("id")})`],
  };
  const end = isNewestFirst ? sql`${createdAt} >= ${bound}` : sql`${createdAt} < ${bound}`;
  return [...starts[kind], ...(isBounded ? [end] : [])];
}
