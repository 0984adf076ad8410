/** What somebody chose; null follows the system. No secret, so it may outlive the tab. */
export type Theme = "light" | "dark" | null;

const place = "skyhook.theme";

export function theme(): Theme {
  const kept = localStorage.getItem(place);
  return kept === "light" || kept === "dark" ? kept : null;
}

export function setTheme(chosen: Theme): void {
  if (chosen === null) localStorage.removeItem(place);
  else localStorage.setItem(place, chosen);
  applyTheme();
}

export function applyTheme(): void {
  const chosen = theme();
  if (chosen === null) delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
  // Charts are painted, so they hear of it and paint anew.
  dispatchEvent(new Event("skyhook:theme"));
}
