import { type Column, type SQL, sql } from "drizzle-orm";

import { firstIdAt } from "../base/ids.ts";

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

/** Positions are compared as row values, which both databases seek by index. */
export function partTerms(
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

/**
 * Compares positions by id, in a list whose ids sort as `createdAt` does. The index of the list needs no
 * time.
 */
export function partByIds(id: Column, order: Window["order"], { kind, isBounded }: Part): SQL[] {
  const isNewestFirst = order === "newest-first";
  const [at, bound] = [sql.placeholder("id"), sql.placeholder("bound")];
  // A time is before the ids of its millisecond.
  const after = sql.raw(kind === "time" ? ">=" : ">");
  const start = isNewestFirst ? sql`${id} < ${at}` : sql`${id} ${after} ${at}`;
  const end = isNewestFirst ? sql`${id} >= ${bound}` : sql`${id} < ${bound}`;
  return [...(kind === "start" ? [] : [start]), ...(isBounded ? [end] : [])];
}

/** The values of `partByIds`. */
export function idsOf({ kind, values: { createdAt, id, bound } }: Part, prefix: string) {
  const first = (at: Date | null) => (at === null ? null : firstIdAt(prefix, at.getTime()));
  return { id: kind === "time" ? first(createdAt) : id, bound: first(bound) };
}
