export const commandGroups = [
  "Jump to",
  "Views",
  "Actions",
  "Providers",
  "Destinations",
  "Events",
  "Search",
];

/** A line of the command palette: it opens an address of the console or does something. */
export type Command = {
  /** Unique in the palette. */
  readonly id: string;
  /** One of `commandGroups`. */
  readonly group: string;
  readonly label: string;
  /** More about it, such as its key or the id of what it opens. */
  readonly hint?: string;
  /** Other words that find it. */
  readonly keywords?: string;
} & ({ readonly address: string } | { readonly run: () => void });

/**
 * The commands that have all words of `text`, in the order of the groups. In a group, those whose label
 * starts with the text come first.
 */
export function matching(commands: readonly Command[], text: string): readonly Command[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const startsOtherwise = ({ label }: Command) => Number(!label.toLowerCase().startsWith(wanted));
  return commands
    .filter(({ group, label, hint = "", keywords = "" }) => {
      const searched = `${group} ${label} ${hint} ${keywords}`.toLowerCase();
      return words.every((word) => searched.includes(word));
    })
    .toSorted(
      (a, b) =>
        commandGroups.indexOf(a.group) - commandGroups.indexOf(b.group) ||
        startsOtherwise(a) - startsOtherwise(b),
    );
}

/** The views that show what an id names, by the prefix of the id. */
const viewsOfPrefixes = {
  evt: ["events", "event"],
  rej: ["rejections", "rejected delivery"],
  dst: ["destinations", "destination"],
  bk: ["bookings", "booking"],
  rpl: ["replays", "replay"],
} as const;

/** The first id in a text that has a page, such as a line of a log; null if it has none. */
export function idIn(text: string) {
  const [, id, prefix] = /(?<!\w)((evt|rej|dst|bk|rpl)_[0-9a-z]+)/i.exec(text.toLowerCase()) ?? [];
  if (id === undefined) return null;
  const found = Object.entries(viewsOfPrefixes).find(([known]) => known === prefix);
  if (found === undefined) return null;
  const [, [view, what]] = found;
  return { id, view, what };
}

/** The booking reference that a text is, in capitals; null if it is something else. */
export function referenceOf(text: string): string | null {
  const reference = text.trim().toUpperCase();
  return /^[A-Z]{6}$/.test(reference) ? reference : null;
}
