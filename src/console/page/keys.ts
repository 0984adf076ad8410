import { go, views } from "./route.ts";

/** What the keys do, as the help lists it. */
export const keys = [
  ["j / k, ↓ / ↑", "next, previous"],
  ["Enter", "open, and move into it"],
  ["Esc", "close"],
  ["/", "filter"],
  ["1 … 6", "change the view"],
  ["?", "this help"],
] as const;

/** Listens to the whole page, but leaves alone what is typed into fields. */
export function listenToKeys(showHelp: () => void): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (document.querySelector("dialog[open]") !== null) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (act(event.key, target, showHelp)) event.preventDefault();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

/** True when the key meant something. */
function act(key: string, target: HTMLElement, showHelp: () => void): boolean {
  const isInDetail = target.closest(".detail") !== null;
  if (key === "j" || (key === "ArrowDown" && !isInDetail)) return move(1, target);
  if (key === "k" || (key === "ArrowUp" && !isInDetail)) return move(-1, target);
  if (key === "?") {
    showHelp();
    return true;
  }
  if (key === "/") return focus("[data-filter]");
  if (key === "Enter" && target instanceof HTMLAnchorElement && target.matches("[data-row]")) {
    return open(target);
  }
  if (key === "Escape") return close();
  const view = views[Number(key) - 1];
  if (view === undefined) return false;
  go(view);
  return true;
}

function move(by: 1 | -1, target: HTMLElement): boolean {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>("[data-row]")];
  const open = document.querySelector("[data-row][aria-current]");
  const from = rows.findIndex(
    (row) => row === target || (!target.matches("[data-row]") && row === open),
  );
  const next = rows[from === -1 ? (by === 1 ? 0 : rows.length - 1) : from + by];
  if (next === undefined) return false;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  // Beside an open one the next is opened too, without a step in the history for each.
  if (open !== null) location.replace(next.href);
  return true;
}

/** Opens a row and moves into what is open, which the keyboard then reads and scrolls. */
function open(row: HTMLAnchorElement): boolean {
  const enter = () => document.querySelector<HTMLElement>("[data-pane]")?.focus();
  if (row.matches("[aria-current]")) {
    enter();
  } else {
    // The address changes first, then what is open is drawn.
    addEventListener("hashchange", () => setTimeout(enter), { once: true });
    location.hash = row.hash;
  }
  return true;
}

function close(): boolean {
  const link = document.querySelector<HTMLAnchorElement>("[data-close]");
  link?.click();
  return link !== null;
}

function focus(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus();
  if (element instanceof HTMLInputElement) element.select();
  return element !== null;
}
