import { useEffect, useState } from "preact/hooks";

import { useLoad } from "./load.ts";
import { filter, type Route } from "./route.ts";

interface FilterParts {
  readonly route: Route;
  /** In the address, and in the API's. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly string[];
}

interface SelectParts extends FilterParts {
  /** What is chosen when nothing is; without it anything goes. */
  readonly preset?: string;
}

export function SelectFilter({ route, name, label, options, preset = "" }: SelectParts) {
  const value = route.query.get(name) ?? preset;
  return (
    <label>
      <span class="label">{label}</span>
      <select value={value} onChange={(event) => filter(route, name, event.currentTarget.value)}>
        {preset === "" && <option value="">any</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
        {value !== "" && !options.includes(value) && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}

/** Typing pauses this long before it counts. */
const pauseMs = 250;

interface TextParts extends FilterParts {
  /** What to write. */
  readonly hint?: string;
}

export function TextFilter({ route, name, label, options, hint = "any" }: TextParts) {
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
        placeholder={hint}
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

interface Service {
  readonly webhooks: { readonly providers: readonly string[] };
}

/** By provider: those registered, and Skyhook's own bookings. */
export function ProviderFilter({
  route,
  own = ["bookings"],
}: {
  readonly route: Route;
  readonly own?: readonly string[];
}) {
  const { value } = useLoad<Service>(".//");
  const options = [...(value?.webhooks.providers ?? []), ...own];
  return <SelectFilter route={route} name="provider" label="Provider" options={options} />;
}
