/** A place in a list: that of one item, by the list's order. */
export interface Position {
  readonly createdAt: Date;
  /** Null in the simplified cursor that carries only a time. */
  readonly id: string | null;
}

/** Which page is asked for. `limit` is 1 to 100. */
export type PageRequest = {
  readonly limit: number;
  /** Whether to count the whole list. */
  readonly withTotal: boolean;
} & (
  | { readonly direction: "forward" | "backward"; readonly cursor: Position | null }
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
