/** The id of a list item: a string; an integer for flights. */
export type ItemId = string | number;

/** The position of an item in its list. */
export interface Position<Id extends ItemId = string> {
  readonly createdAt: Date;
  /** Null in a simplified cursor, which holds only a time. */
  readonly id: Id | null;
}

/** The requested page. `limit` is 0 to 100; 0 returns no items, only whether more exist. */
export type PageRequest<Id extends ItemId = string> = {
  readonly limit: number;
  /** Whether to count the whole list. */
  readonly withTotal: boolean;
} & (
  | { readonly direction: "forward" | "backward"; readonly cursor: Position<Id> | null }
  | { readonly page: number }
);

/** One page. `hasMore`: whether more items follow in the requested direction. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: {
    readonly hasMore: boolean;
    readonly nextCursor: string | null;
    readonly prevCursor: string | null;
    readonly total?: number;
  };
}

export const defaultLimit = 20;
export const maxLimit = 100;
/** Offset pagination reads and skips all rows before the page. Beyond this many, use cursors. */
export const maxOffsetRows = 10_000;
