import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { filter } from "../location.ts";
import { type Route } from "../route.ts";

export interface FilterParts {
  readonly route: Route;
  /** The name of the query parameter, in the page's address and in the API. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly string[];
}

/** The filter is applied when typing has paused for this long. */
const pauseMs = 250;

export interface TextParts extends FilterParts {
  readonly placeholder: string;
  /** The filter that typed text stands for; by default itself. */
  readonly filterFor?: ((typed: string) => Promise<string>) | undefined;
}

const trimmed = async (typed: string) => typed.trim();

export function TextFilter(parts: TextParts) {
  const { route, name, label, options, placeholder, filterFor = trimmed } = parts;
  const value = route.query.get(name) ?? "";
  const [typed, setTyped] = useState(value);
  /** What this control set last. Another value is from a link, and is shown as it is. */
  const applied = useRef(value);
  // Other filters may change before this one is applied.
  const newest = useRef(route);
  newest.current = route;
  /** What was typed last, while it is not applied. */
  const latest = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stop = () => {
    clearTimeout(timer.current);
    latest.current = null;
  };
  useEffect(() => {
    if (value === applied.current) return;
    stop();
    applied.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => stop, []);
  const apply = async (text: string) => {
    const wanted = await filterFor(text);
    if (latest.current !== text) return;
    stop();
    applied.current = wanted;
    filter(newest.current, name, wanted);
  };
  const write = (text: string) => {
    stop();
    setTyped(text);
    latest.current = text;
    timer.current = setTimeout(() => void apply(text), pauseMs);
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.key !== "Enter" || event.isComposing) return;
    stop();
    latest.current = typed;
    void apply(typed);
  };
  return (
    <label class={`chip text ${name}${value === "" ? "" : " set"}`}>
      <span class="label">{label}</span>
      <input
        type="search"
        value={typed}
        placeholder={placeholder}
        list={`${name}-options`}
        data-filter
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <datalist id={`${name}-options`}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </label>
  );
}
