import type { ComponentChildren } from "preact";

import type { ApiError } from "../api.ts";
import type { Destination } from "../wire.ts";

import { FilterPreview } from "./filter-preview.tsx";

/** The error of a field; null if it has none. */
export type ErrorOf = (name: string) => string | null;

interface FilterParts {
  readonly value: string;
  readonly change: (value: string) => void;
  readonly error: string | null;
}

/** The filter, with a preview on the newest notifications. */
export function FilterField({ value, change, error }: FilterParts) {
  return (
    <>
      <Field
        name="filter"
        label="Filter"
        error={error}
        hint="An expression, or empty for all events"
      >
        {(field) => (
          <textarea
            {...field}
            rows={3}
            spellcheck={false}
            placeholder={'event.type == "deploy.error"'}
            value={value}
            onInput={(event) => change(event.currentTarget.value)}
          />
        )}
      </Field>
      <FilterPreview filter={value} />
    </>
  );
}

export function AlertsField({ isOn = false }: { readonly isOn?: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name="alerts" defaultChecked={isOn} />
      <span>Also send alerts about Skyhook itself, such as dead letters</span>
    </label>
  );
}

interface LimitsParts {
  readonly errorOf: ErrorOf;
  /** The destination as it is; none while it is created. */
  readonly of?: Pick<Destination, "orderBy" | "ratePerSecond" | "maxConcurrent">;
}

/** Order, rate and concurrency, which most destinations leave as they are. */
export function Limits({ errorOf, of: current }: LimitsParts) {
  const names = ["orderBy", "ratePerSecond", "maxConcurrent"];
  const isOpen = current !== undefined || names.some((name) => errorOf(name) !== null);
  return (
    <details open={isOpen}>
      <summary>Order and limits</summary>
      <div class="fields">
        <Field
          name="orderBy"
          label="Order by"
          error={errorOf("orderBy")}
          hint="A field such as event.subject: one at a time for each value"
        >
          {(field) => (
            <input
              {...field}
              defaultValue={current?.orderBy ?? ""}
              autocomplete="off"
              spellcheck={false}
            />
          )}
        </Field>
        <Field
          name="ratePerSecond"
          label="Deliveries per second"
          error={errorOf("ratePerSecond")}
          hint="Empty: no limit"
        >
          {(field) => (
            <input
              {...field}
              defaultValue={current?.ratePerSecond?.toString() ?? ""}
              inputMode="numeric"
              autocomplete="off"
            />
          )}
        </Field>
        <Field
          name="maxConcurrent"
          label="Deliveries at the same time"
          error={errorOf("maxConcurrent")}
          hint={current === undefined ? "Empty: 8" : "From 1 to 64"}
        >
          {(field) => (
            <input
              {...field}
              defaultValue={current?.maxConcurrent.toString() ?? ""}
              inputMode="numeric"
              autocomplete="off"
            />
          )}
        </Field>
      </div>
    </details>
  );
}

interface FieldParts {
  readonly name: string;
  readonly label: string;
  readonly error: string | null;
  readonly hint?: string;
  /** Renders the control with these attributes. */
  readonly children: (attributes: {
    readonly id: string;
    readonly name: string;
    readonly "aria-invalid": boolean;
    readonly "aria-describedby": string;
  }) => ComponentChildren;
}

/** A labelled control with its hint, or its error. */
export function Field({ name, label, error, hint, children }: FieldParts) {
  const id = `field-${name}`;
  return (
    <div class={error === null ? "field" : "field invalid"}>
      <label for={id}>{label}</label>
      {children({ id, name, "aria-invalid": error !== null, "aria-describedby": `${id}-note` })}
      <p class={error === null ? "quiet" : "error"} id={`${id}-note`}>
        {error ?? hint}
      </p>
    </div>
  );
}

interface FormErrorParts {
  readonly error: ApiError | null;
  /** The fields of the form, which show their errors themselves. */
  readonly fields: readonly string[];
}

/** An error that no field shows. */
export function FormError({ error, fields }: FormErrorParts) {
  const names = [...(error?.fields.keys() ?? [])];
  if (error === null || (names.length > 0 && names.every((name) => fields.includes(name)))) {
    return null;
  }
  return (
    <p class="error" role="alert">
      {error.message}
    </p>
  );
}

/** The text of a field, without surrounding white space; empty if it is not shown. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** A whole number as such; other text as it is, for the server's error. */
export function numberOrText(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}
