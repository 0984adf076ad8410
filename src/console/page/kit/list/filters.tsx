import type { ComponentChildren, JSX } from "preact";
import { useContext } from "preact/hooks";

import type { Filters as Defined } from "../../../../base/filters.ts";
import { useLoad } from "../load.ts";
import { filter } from "../location.ts";
import { nameIn, NamesContext, ownSources } from "../names.ts";
import { type Route, writeRoute } from "../route.ts";
import { words } from "../text.tsx";
import type { Page } from "../wire.ts";

import { type FilterParts, TextFilter, type TextParts } from "./text-filter.tsx";

interface ControlsParts {
  readonly children: ComponentChildren;
  readonly label?: string;
  /** Whether they search a list. */
  readonly isSearch?: boolean;
}

/** Controls that apply at once. */
export function Controls({ children, label, isSearch = false }: ControlsParts) {
  return (
    <form
      class="filters"
      role={isSearch ? "search" : undefined}
      aria-label={label}
      onSubmit={(event) => event.preventDefault()}
    >
      {children}
    </form>
  );
}

/** What a control shows beyond the definition of its filter. */
interface Hint {
  /** For text, by default the example. */
  readonly placeholder?: string;
  /** The first choice, which sets no filter. Text has choices only with it. */
  readonly all?: string;
  /** Values on offer: of words, those that come first. */
  readonly options?: readonly string[];
  /** The label of a choice. */
  readonly labelOf?: (option: string) => string;
  readonly filterFor?: TextParts["filterFor"];
}

/** A control for several filters, or for one that its definition does not describe. */
type Control = (parts: { readonly route: Route }) => JSX.Element;

interface ControlsOfParts {
  readonly of: Defined;
  readonly route: Route;
  /** In this order. Other filters, which only a link sets, are shown while they are set. */
  readonly controls: Readonly<Record<string, Hint | Control>>;
}

/** The controls of a list's filters, made from their definitions. */
export function FilterControls({ of: filters, route, controls }: ControlsOfParts) {
  const linked = Object.keys(filters)
    .filter((name) => route.query.has(name) && controls[name] === undefined && !isTime(name))
    .map((name) => [name, { placeholder: "" }] as const);
  return (
    <>
      {[...Object.entries(controls), ...linked].map(([name, Own]) =>
        typeof Own === "function" ? (
          <Own key={name} route={route} />
        ) : (
          <FilterControl key={name} name={name} of={filters[name]} hint={Own} route={route} />
        ),
      )}
    </>
  );
}

/** `TimeFilter` shows both. */
const isTime = (name: string) => name === "from" || name === "to";

interface ControlParts {
  readonly name: string;
  readonly of: Defined[string] | undefined;
  readonly hint: Hint;
  readonly route: Route;
}

function FilterControl({ name, of: filter, hint, route }: ControlParts) {
  if (filter === undefined) return null;
  const { label } = filter;
  const { options = [], all, labelOf = words, placeholder, filterFor } = hint;
  if (filter.kind !== "word" && all === undefined) {
    const shown = placeholder ?? filter.example ?? "";
    const parts = { route, name, label, options, placeholder: shown, filterFor };
    return <TextFilter {...parts} />;
  }
  const known = filter.kind === "word" ? filter.words : [];
  return (
    <SelectFilter
      route={route}
      name={name}
      label={label}
      all={all ?? "All"}
      options={[...new Set([...options, ...known])]}
      labelOf={labelOf}
    />
  );
}

/** The filters above a list. */
export function Filters(parts: ControlsOfParts) {
  const { view, id, query } = parts.route;
  return (
    <Controls isSearch>
      <FilterControls {...parts} />
      {query.size > 0 && <a href={writeRoute(view, id)}>Clear filters</a>}
    </Controls>
  );
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
    <span class={value === "" ? "chip" : "chip set"}>
      <label>
        <span class="label">{label}</span>
        <select value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
          {preset === "" && <option value="">{all}</option>}
          {options.map((option) => (
            <option key={option} value={option}>
              {labelOf(option)}
            </option>
          ))}
          {value !== "" && !options.includes(value) && (
            <option value={value}>{labelOf(value)}</option>
          )}
        </select>
      </label>
      {preset === "" && value !== "" && (
        <button
          type="button"
          class="remove"
          aria-label={`Remove the filter ${label}`}
          onClick={() => onChoice("")}
        >
          ✕
        </button>
      )}
    </span>
  );
}

type Parameter = readonly [name: string, value: string];

/** The filters of an address as the API takes them. `others` replace or extend them. */
export function filtersIn(
  query: URLSearchParams,
  filters: Defined,
  others: readonly Parameter[],
): Readonly<Record<string, string>> {
  const named = Object.keys(filters).map((name): Parameter => [name, query.get(name) ?? ""]);
  const all = Object.entries(Object.fromEntries([...named, ...others]));
  return Object.fromEntries(all.filter(([, value]) => value !== ""));
}

/** The same as a query. */
export function apiQuery(...parts: Parameters<typeof filtersIn>): string {
  return new URLSearchParams(filtersIn(...parts)).toString();
}

/** Offers the registered providers and `own`: the sources of events that are not webhooks. */
export function ProviderFilter({
  route,
  own = ownSources,
}: {
  readonly route: Route;
  readonly own?: readonly string[];
}) {
  const names = useContext(NamesContext);
  return (
    <SelectFilter
      route={route}
      name="provider"
      label="Provider"
      all="All providers"
      options={[...names.keys(), ...own]}
      labelOf={(id) => nameIn(names, id)}
    />
  );
}

interface Named {
  readonly name: string;
}

/** Offers the operators' destinations. */
export function DestinationFilter({ route }: { readonly route: Route }) {
  const { value } = useLoad<Page<Named>>("v1/destinations?owner=operators&limit=100");
  return (
    <SelectFilter
      route={route}
      name="destination"
      label="Destination"
      all="All destinations"
      options={value?.data.map(({ name }) => name) ?? []}
    />
  );
}
