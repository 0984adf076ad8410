import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { useLoad } from "./load.ts";
import { filter, type Route, writeRoute } from "./route.ts";

interface ControlsParts {
  readonly children: ComponentChildren;
  readonly label?: string;
  /** Whether they search a list. */
  readonly isSearch?: boolean;
  /** Whether text fields have room for a sentence. */
  readonly isWide?: boolean;
}

/** Controls that apply at once. */
export function Controls({ children, label, isSearch = false, isWide = false }: ControlsParts) {
  return (
    <form
      class={isWide ? "filters wide" : "filters"}
      role={isSearch ? "search" : undefined}
      aria-label={label}
      onSubmit={(event) => event.preventDefault()}
    >
      {children}
    </form>
  );
}

interface ListFilterParts extends Pick<ControlsParts, "children" | "isWide"> {
  readonly route: Route;
  /** The text of the link that removes all filters. */
  readonly clear?: string;
}

/** The filters of a list. */
export function Filters({
  route,
  clear = "Clear filters",
  children,
  isWide = false,
}: ListFilterParts) {
  return (
    <Controls isSearch isWide={isWide}>
      {children}
      {route.query.size > 0 && <a href={writeRoute(route.view, route.id)}>{clear}</a>}
    </Controls>
  );
}

interface FilterParts {
  readonly route: Route;
  /** The name of the query parameter, in the page's address and in the API. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly string[];
}

interface SelectParts extends FilterParts {
  /** The default. Without it, `all` is the first option and sets no filter. */
  readonly preset?: string;
  readonly all?: string;
  /** An option's label; by default the option itself. */
  readonly labelOf?: (option: string) => string;
  /** The choice; by default the parameter's value. */
  readonly value?: string;
  /** Called with a choice; by default, it becomes the parameter's value. */
  readonly onChoice?: (value: string) => void;
}

export function SelectFilter({
  route,
  name,
  label,
  options,
  preset = "",
  all = "All",
  labelOf = (option) => option,
  value = route.query.get(name) ?? preset,
  onChoice = (choice) => filter(route, name, choice),
}: SelectParts) {
  return (
    <label>
      <span class="label">{label}</span>
      <select value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
        {preset === "" && <option value="">{all}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {labelOf(option)}
          </option>
        ))}
        {value !== "" && !options.includes(value) && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}

type Parameter = readonly [name: string, value: string];

/** The query of a request: the parameters of the address that the API knows by the same name, and others. */
export function apiQuery(
  query: URLSearchParams,
  names: readonly string[],
  others: readonly Parameter[],
): string {
  const named = names.map((name): Parameter => [name, query.get(name) ?? ""]);
  const given = [...named, ...others].filter(([, value]) => value !== "");
  return new URLSearchParams(given.map(([name, value]) => [name, value])).toString();
}

/** The filter is applied when typing has paused for this long. */
const pauseMs = 250;

interface TextParts extends FilterParts {
  readonly placeholder: string;
}

export function TextFilter({ route, name, label, options, placeholder }: TextParts) {
  const value = route.query.get(name) ?? "";
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => filter(route, name, typed.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label>
      <span class="label">{label}</span>
      <input
        type="search"
        value={typed}
        placeholder={placeholder}
        list={`${name}-options`}
        data-filter
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <datalist id={`${name}-options`}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </label>
  );
}

const linked = [
  ["subject", "Subject"],
  ["idempotencyKey", "Idempotency key"],
] as const;

/** Filters that only a link sets. Shown while they are set. */
export function LinkedFilters({ route }: { readonly route: Route }) {
  return (
    <>
      {linked
        .filter(([name]) => route.query.has(name))
        .map(([name, label]) => (
          <TextFilter
            key={name}
            route={route}
            name={name}
            label={label}
            placeholder=""
            options={[]}
          />
        ))}
    </>
  );
}

interface Service {
  readonly webhooks: { readonly providers: readonly string[] };
}

/** Offers the registered providers and `own`: the sources of events that are not webhooks. */
export function ProviderFilter({
  route,
  own = ["bookings", "skyhook"],
}: {
  readonly route: Route;
  readonly own?: readonly string[];
}) {
  const { value } = useLoad<Service>("./");
  const options = [...(value?.webhooks.providers ?? []), ...own];
  return (
    <SelectFilter
      route={route}
      name="provider"
      label="Provider"
      all="All providers"
      options={options}
    />
  );
}
