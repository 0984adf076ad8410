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
