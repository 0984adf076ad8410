/** What the items of a list are told apart by: most by a text, flights by a whole number. */
export type ItemId = string | number;

/** A place in a list: that of one item, by the list's order. */
export interface Position<Id extends ItemId = string> {
  readonly createdAt: Date;
  /** Null in the simplified cursor that carries only a time. */
  readonly id: Id | null;
}

/** Which page is asked for. `limit` is 0 to 100; 0 asks only whether there is more. */
export type PageRequest<Id extends ItemId = string> = {
  readonly limit: number;
  /** Whether to count the whole list. */
  readonly withTotal: boolean;
} & (
  | { readonly direction: "forward" | "backward"; readonly cursor: Position<Id> | null }
  | { readonly page: number }
);

/** One page. `hasMore` speaks of the direction of travel. */
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
/** Offset pages read and skip every row before them: beyond this, cursors must be used. */
export const maxOffsetRows = 10_000;
