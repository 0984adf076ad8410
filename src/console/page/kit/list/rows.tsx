import type { ComponentChildren } from "preact";

import { Text } from "../text.tsx";
import { Time } from "../time.tsx";
import { Source } from "../ui.tsx";

/** A column of a list. */
export interface Column<Item> {
  readonly head: string;
  /** The class of its cells and, where rows have several lines, the name of their place in `narrow`. */
  readonly at: string;
  /** The width where rows have one line, as of a CSS grid. By default an equal share of what is left. */
  readonly width?: string;
  /** `changed`: called after a change of the item, so that the list loads again. */
  readonly cell: (item: Item, changed: () => void) => ComponentChildren;
  readonly look?: "mono" | "number" | "quiet";
  /** Whether rows of several lines leave it out. */
  readonly isWideOnly?: boolean;
  /** What the tooltip of a cell says. */
  readonly tip?: (item: Item) => string | null;
}

/** How a list shows its items, and where they lead. */
export interface Rows<Item> {
  /** The items' name: singular and plural. */
  readonly what: readonly [string, string];
  readonly columns: readonly Column<Item>[];
  /** The places of the cells where the list is too narrow for a line per item: a CSS `grid-template`. */
  readonly narrow: string;
  /** What can be done with an item from its row, after its link. A column of the same name has the place. */
  readonly act?: (item: Item, changed: () => void) => ComponentChildren;
  /** The address of an item; null if it has no page. */
  readonly address: (item: Item, query: URLSearchParams) => string | null;
  /** Buttons beside an item that is a link, which cannot contain them. */
  readonly beside?: (item: Item, changed: () => void) => ComponentChildren;
  /** Items with equal keys in a row are shown as one, until the rest is asked for. */
  readonly groupOf?: (item: Item) => string;
  /** The heading above an item and its neighbours with the same, such as a day. */
  readonly sectionOf?: (item: Item) => string;
  /** Whether to highlight an item. */
  readonly isFresh?: (item: Item) => boolean;
}

const classOf = ({ what: [one] }: Rows<never>) => one.replaceAll(" ", "-");

interface ListParts {
  readonly of: Rows<never>;
  /** A list item for each item. */
  readonly children: ComponentChildren;
}

/** The names of the columns, hidden where rows have several lines, and the rows. */
export function RowList({ of: rows, children }: ListParts) {
  const style = {
    "--narrow": rows.narrow,
    "--wide": `none / ${rows.columns.map(({ width = "minmax(0, 1fr)" }) => width).join(" ")}`,
  };
  return (
    <div class="table" style={style}>
      {/* Screen readers hear each row as one link: the heads would only repeat. */}
      <div class={`row head ${classOf(rows)}`} aria-hidden="true">
        {rows.columns.map(({ head, at, look }) => (
          <span key={at} class={`cell ${at} ${look === "number" ? look : ""}`}>
            {head}
          </span>
        ))}
      </div>
      <ul class="rows">{children}</ul>
    </div>
  );
}

/** Text of an item is untrusted. */
const shown = (content: ComponentChildren) =>
  typeof content === "string" ? <Text of={content} /> : content;

export interface RowParts<Item> {
  readonly of: Rows<Item>;
  readonly item: Item;
  readonly isOpen: boolean;
  readonly query: URLSearchParams;
  readonly changed?: () => void;
}

/** An item: a link, if it has a page. */
export function ItemRow<Item>(parts: RowParts<Item>) {
  const { of: rows, item, isOpen, query, changed = () => {} } = parts;
  const address = rows.address(item, query);
  const name = `row ${classOf(rows)}${rows.isFresh?.(item) === true ? " fresh" : ""}`;
  const cells = rows.columns.map(({ at, look = "", isWideOnly, tip, cell }) => (
    <span
      key={at}
      class={`cell ${at} ${look} ${isWideOnly === true ? "wide-only" : ""}`}
      style={{ "--at": at }}
      title={tip?.(item) ?? undefined}
    >
      {shown(cell(item, changed))}
    </span>
  ));
  if (address === null) return <div class={name}>{cells}</div>;
  const action = rows.act?.(item, changed);
  return (
    <>
      <a class={name} href={address} data-row aria-current={isOpen ? "true" : undefined}>
        {cells}
      </a>
      {action && <span class="row-act">{action}</span>}
    </>
  );
}

export const providerColumn: Column<{ readonly provider: string }> = {
  head: "Provider",
  at: "source",
  width: "176px",
  cell: ({ provider }) => <Source of={provider} />,
};

/** When an item was created, relative to now. */
export const timeColumn = (head: string): Column<{ readonly createdAt: string }> => ({
  head,
  at: "time",
  width: "76px",
  cell: ({ createdAt }) => <Time at={createdAt} />,
});

/** `3 seats`, of which a line under a head shows the number only. */
export function Count({ of: count, one }: { readonly of: number; readonly one: string }) {
  return (
    <>
      {count.toLocaleString("en")}
      <span class="unit"> {count === 1 ? one : `${one}s`}</span>
    </>
  );
}
