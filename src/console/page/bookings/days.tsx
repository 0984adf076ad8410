import { filter, filterAll } from "../kit/location.ts";
import { type Route } from "../kit/route.ts";

const format = { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" } as const;
const thisYear = new Intl.DateTimeFormat("en-GB", format);
const otherYear = new Intl.DateTimeFormat("en-GB", { ...format, year: "numeric" });

/** `Fri 27 Nov`, with the year if it is another one. `date` starts as `2026-11-27` does. */
export function dayText(date: string): string {
  const day = new Date(`${date.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(day.getTime())) return date;
  const isThisYear = day.getUTCFullYear() === new Date().getUTCFullYear();
  return (isThisYear ? thisYear : otherYear).format(day).replace(",", "");
}

/** `Fri 27 Nov 18:25`, of a local time with its offset. */
export const localText = (local: string): string => `${dayText(local)} ${local.slice(11, 16)}`;

/** The start of a day in UTC, or of the day that is `days` later; empty if there is no such day. */
export function startOf(date: string, days = 0): string {
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(day.getTime())) return "";
  return new Date(day.getTime() + days * 86_400_000).toISOString();
}

interface FieldParts {
  readonly label: string;
  /** As `2026-01-31`; empty for any. */
  readonly value: string;
  readonly onChoice: (day: string) => void;
}

function DayField({ label, value, onChoice }: FieldParts) {
  return (
    <label class={value === "" ? "chip day" : "chip day set"}>
      <span class="label">{label}</span>
      <input
        type="date"
        value={value}
        onClick={(event) => event.currentTarget.showPicker()}
        onChange={(event) => onChoice(event.currentTarget.value)}
      />
    </label>
  );
}

interface ControlParts {
  readonly route: Route;
}

/** The first day to show. */
export function FromDay({ route }: ControlParts) {
  const value = route.query.get("from") ?? "";
  // Another day may be open.
  const choose = (day: string) => filter({ ...route, id: null }, "from", day);
  return <DayField label="From" value={value} onChoice={choose} />;
}

/** Chooses one day, which `DepartsTo` extends. */
export function DepartsFrom({ route }: ControlParts) {
  const value = (route.query.get("departsFrom") ?? "").slice(0, 10);
  const choose = (day: string) =>
    filterAll(route, {
      departsFrom: day && startOf(day),
      departsTo: day && startOf(day, 1),
    });
  return <DayField label="Departs (UTC)" value={value} onChoice={choose} />;
}

/** The last day. The filter is the start of the next one. */
export function DepartsTo({ route: { query }, route }: ControlParts) {
  const end = query.get("departsTo") ?? "";
  if (end === "" && !query.has("departsFrom")) return <></>;
  const value = end && startOf(end.slice(0, 10), -1).slice(0, 10);
  const choose = (day: string) => filter(route, "departsTo", day && startOf(day, 1));
  return <DayField label="to" value={value} onChoice={choose} />;
}
