import { go } from "./location.ts";
import { views } from "./route.ts";
import { viewKeys } from "./views.ts";

/** The shortcuts that the help dialog lists. */
export const keys = [
  ["j / k, ↓ / ↑", "Next, previous"],
  ["Enter", "Open and focus"],
  ["Esc", "Close"],
  ["/", "Filter"],
  ["1 … 9, 0", "Switch view"],
  ["A, P", "Access, People"],
  ["Ctrl + K, ⌘ K", "Command palette"],
  ["?", "Show shortcuts"],
] as const;

interface Dialogs {
  readonly showHelp: () => void;
  readonly showPalette: () => void;
}

/**
 * Listens on the whole page, except for open dialogs and, but for the palette's key, input fields. Returns
 * a function that stops it.
 */
export function listenToKeys({ showHelp, showPalette }: Dialogs): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented) return;
    const isOpen = document.querySelector("dialog[open]") !== null;
    if (isPaletteKey(event)) {
      // The browser has an action for this key: prevent it also while a dialog is open.
      event.preventDefault();
      if (!isOpen) showPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isOpen) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (handle(event.key, target, showHelp)) event.preventDefault();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === "k" && ctrlKey !== metaKey && !altKey && !shiftKey;
}

/** Returns whether the key was handled. */
function handle(key: string, target: HTMLElement, showHelp: () => void): boolean {
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
  const view = views.find((each) => viewKeys[each] === key);
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
  // If an item is open, open the next one instead, without adding a history entry.
  if (open !== null) location.replace(next.href);
  return true;
}

/** Opens a row and focuses its detail pane, so that the keyboard scrolls the pane. */
function open(row: HTMLAnchorElement): boolean {
  const focusPane = () => document.querySelector<HTMLElement>("[data-pane]")?.focus();
  if (row.matches("[aria-current]")) {
    focusPane();
  } else {
    // The pane is rendered after the address has changed.
    addEventListener("hashchange", () => setTimeout(focusPane), { once: true });
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
