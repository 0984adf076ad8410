import { useState } from "preact/hooks";

import { copy } from "./copy.tsx";
import { type Route, type View, writeRoute } from "./route.ts";

/** Filters of a list under a name, kept in this browser. */
interface SavedView {
  readonly view: View;
  readonly name: string;
  readonly query: string;
}

/** What every browser has. */
const presets: readonly SavedView[] = [
  { view: "events", name: "Dead", query: "delivery=dead" },
  { view: "events", name: "Dead yesterday", query: "delivery=dead&since=yesterday" },
];

const storageKey = "skyhook.views";
const maxSaved = 50;
const maxNameLength = 40;

function savedViews(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isSavedView) : [];
  } catch {
    return [];
  }
}

const isSavedView = (value: unknown): value is SavedView => {
  const { view, name, query }: Record<string, unknown> = Object(value);
  return [view, name, query].every((part) => typeof part === "string");
};

/** The saved filters of a list as links, and what to do with those that are set. */
export function SavedViews({ route }: { readonly route: Route }) {
  const [saved, setSaved] = useState(savedViews);
  const [isNaming, setNaming] = useState(false);
  const query = route.query.toString();
  const offered = [...presets, ...saved].filter(({ view }) => view === route.view);
  const isOffered = offered.some((one) => one.query === query);
  /** Replaces the view of this name, among those that other tabs have saved too. */
  const put = (name: string, ...views: readonly SavedView[]) => {
    const isOther = (one: SavedView) => one.view !== route.view || one.name !== name;
    const kept = [...savedViews().filter(isOther), ...views].slice(-maxSaved);
    localStorage.setItem(storageKey, JSON.stringify(kept));
    setSaved(savedViews());
  };
  const save = (name: string) => {
    setNaming(false);
    if (name !== "") put(name, { view: route.view, name, query });
  };
  return (
    <>
      {query === "" ? null : isNaming ? (
        <input
          class="name-view"
          aria-label="Name of the view"
          placeholder="Name, then Enter"
          maxLength={maxNameLength}
          ref={(field) => field?.focus()}
          onBlur={() => setNaming(false)}
          onKeyDown={({ key, currentTarget }) => {
            if (key === "Enter") save(currentTarget.value.trim());
            if (key === "Escape") setNaming(false);
          }}
        />
      ) : (
        !isOffered && (
          <button type="button" class="link" onClick={() => setNaming(true)}>
            Save view
          </button>
        )
      )}
      {query !== "" && (
        <button type="button" class="link" onClick={() => void copy(location.href)}>
          Copy link
        </button>
      )}
      {offered.map((one) => (
        <span key={one.name} class={one.query === query ? "view chosen" : "view"}>
          <a href={writeRoute(one.view, null, new URLSearchParams(one.query))}>{one.name}</a>
          {!presets.includes(one) && (
            <button
              type="button"
              class="remove"
              aria-label={`Delete the view ${one.name}`}
              onClick={() => put(one.name)}
            >
              ✕
            </button>
          )}
        </span>
      ))}
    </>
  );
}
