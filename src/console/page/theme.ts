/** The chosen theme; null follows the system. Not secret, so it is kept in `localStorage`. */
export type Theme = "light" | "dark" | null;

const storageKey = "skyhook.theme";

export function theme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return stored === "light" || stored === "dark" ? stored : null;
}

export function setTheme(chosen: Theme): void {
  if (chosen === null) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, chosen);
  applyTheme();
}

export function applyTheme(): void {
  const chosen = theme();
  if (chosen === null) delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
  // Charts are drawn on a canvas and must be repainted.
  dispatchEvent(new Event("skyhook:theme"));
}
