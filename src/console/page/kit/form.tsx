import { type ComponentChildren, createContext } from "preact";
import { useContext, useLayoutEffect, useRef } from "preact/hooks";

import type { FormField } from "../../../web/input.ts";

import { Problem, useAction } from "./action.tsx";
import type { ApiError } from "./api.ts";

export type FormFields = Readonly<Record<string, FormField>>;
export type FormValues = Readonly<Record<string, string | number | boolean | null | undefined>>;

const FormErrors = createContext<ReadonlyMap<string, string>>(new Map());

interface FormParts {
  readonly class?: string;
  readonly title?: ComponentChildren;
  readonly children: ComponentChildren;
  /** The label of the button, and while the request runs. */
  readonly submit: readonly [label: string, busy: string];
  /** Returns the address to show next, unless the form was left meanwhile. */
  readonly send: (values: FormData) => Promise<string | void>;
  /** Called when a value changes. */
  readonly watch?: (textOf: (name: string) => string) => void;
  /** The names of the fields that show their errors themselves. */
  readonly shows: readonly string[];
  /** An error that no field shows. */
  readonly problem?: (error: ApiError) => ComponentChildren;
  /** How to leave the form: the address of a link, or what a button does. */
  readonly cancel?: string | (() => void);
  readonly cancelLabel?: string;
  readonly isFocused?: boolean;
}

/** A form that the server checks: its errors are shown at their fields, and the first one gets the focus. */
export function Form({
  class: name = "form",
  title,
  children,
  submit: [label, busy],
  send,
  watch,
  shows,
  problem = (error) => <Problem error={error} />,
  cancel,
  cancelLabel = "Cancel",
  isFocused = false,
}: FormParts) {
  const { isBusy, error, run } = useAction({ isLast: true });
  const form = useRef<HTMLFormElement>(null);
  const focus = (selector: string) => form.current?.querySelector<HTMLElement>(selector)?.focus();
  // Before the next key is pressed: an effect after painting would take the focus from a field just chosen.
  useLayoutEffect(() => void (isFocused && focus("input")), []);
  useLayoutEffect(() => void (error !== null && focus("[aria-invalid=true]")), [error]);
  const names = [...(error?.fields.keys() ?? [])];
  const isShown = names.length > 0 && names.every((each) => shows.includes(each));
  const changed = () => {
    if (form.current === null || watch === undefined) return;
    const values = new FormData(form.current);
    watch((each) => textIn(values, each));
  };
  return (
    <FormErrors.Provider value={error?.fields ?? new Map()}>
      <form
        class={name}
        noValidate
        ref={form}
        onInput={changed}
        onChange={changed}
        onSubmit={(event) => {
          event.preventDefault();
          const values = new FormData(event.currentTarget);
          void run(async () => {
            const next = await send(values);
            if (form.current !== null && typeof next === "string") location.hash = next;
          });
        }}
      >
        {title !== undefined && <h2>{title}</h2>}
        {children}
        {error !== null && !isShown && problem(error)}
        <div class="actions">
          <button type="submit" class="primary" aria-disabled={isBusy}>
            {isBusy ? busy : label}
          </button>
          {typeof cancel === "string" && (
            <a class="button" href={cancel}>
              {cancelLabel}
            </a>
          )}
          {typeof cancel === "function" && (
            <button type="button" onClick={cancel}>
              {cancelLabel}
            </button>
          )}
        </div>
      </form>
    </FormErrors.Provider>
  );
}

interface FieldsParts {
  readonly of: FormFields;
  /** The values at first, by name. */
  readonly values?: FormValues;
}

/** Labelled controls, each with its hint or its error. */
export function Fields({ of: fields, values = {} }: FieldsParts) {
  return (
    <>
      {Object.entries(fields).map(([name, field]) => (
        <Field key={name} name={name} of={field} value={values[name] ?? ""} />
      ))}
    </>
  );
}

/** Fields that most forms leave as they are. Opens for an error. */
export function MoreFields({
  title,
  isOpen = false,
  ...parts
}: FieldsParts & { readonly title: string; readonly isOpen?: boolean }) {
  const errors = useContext(FormErrors);
  return (
    <details open={isOpen || Object.keys(parts.of).some((name) => errors.has(name))}>
      <summary>{title}</summary>
      <div class="fields">
        <Fields {...parts} />
      </div>
    </details>
  );
}

interface FieldParts {
  readonly name: string;
  readonly of: FormField;
  readonly value: FormValues[string];
}

function Field({ name, of: field, value }: FieldParts) {
  const error = useContext(FormErrors).get(name) ?? null;
  const id = `field-${name}`;
  if (field.type === "flag") {
    return (
      <label class="check">
        <input type="checkbox" name={name} defaultChecked={value === true} />
        <span>{field.label}</span>
      </label>
    );
  }
  return (
    <div class={error === null ? "field" : "field invalid"}>
      <label for={id}>{field.label}</label>
      <Control id={id} name={name} of={field} value={String(value)} isInvalid={error !== null} />
      <p class={error === null ? "quiet" : "error"} id={`${id}-note`}>
        {error ?? field.hint}
      </p>
    </div>
  );
}

interface ControlParts {
  readonly id: string;
  readonly name: string;
  readonly of: FormField;
  readonly value: string;
  readonly isInvalid: boolean;
}

function Control({ id, name, of: field, value, isInvalid }: ControlParts) {
  const attributes = {
    id,
    name,
    "aria-invalid": isInvalid,
    "aria-describedby": `${id}-note`,
    "aria-required": field.isOptional !== true,
  };
  const typed = {
    ...attributes,
    defaultValue: value,
    placeholder: field.placeholder ?? "",
    autocomplete: "off",
    spellcheck: false,
  };
  if (field.type === "choice") {
    return (
      <select {...attributes}>
        {field.words?.map((word) => (
          <option key={word} value={word} selected={word === value}>
            {field.labels?.[word]?.label ?? word}
          </option>
        ))}
      </select>
    );
  }
  if (field.rows !== undefined) return <textarea {...typed} rows={field.rows} />;
  if (field.isSecret === true) return <input {...typed} type="password" />;
  return <input {...typed} inputMode={field.type === "integer" ? "numeric" : undefined} />;
}

/** The fields as a request has them. Leaves out empty optional ones. */
export function valuesIn(form: FormData, fields: FormFields): FormValues {
  const values: Record<string, FormValues[string]> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = valueIn(form, name, field);
    if (field.isOptional !== true || Boolean(value)) values[name] = value;
  }
  return values;
}

/** What the form changes of `base`. An empty field that may be null becomes null. */
export function changesIn(form: FormData, fields: FormFields, base: FormValues): FormValues {
  const changes: Record<string, FormValues[string]> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = valueIn(form, name, field);
    if (String(value) === String(base[name] ?? "").trim()) continue;
    changes[name] = value === "" && field.isNullable === true ? null : value;
  }
  return changes;
}

/** Text that is not a number is sent as it is: the server reports the error. */
function valueIn(form: FormData, name: string, { type }: FormField): string | number | boolean {
  if (type === "flag") return form.has(name);
  const text = textIn(form, name);
  return type === "integer" && /^\d+$/.test(text) ? Number(text) : text;
}

/** Without surrounding white space; empty if the field is not shown. */
function textIn(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}
