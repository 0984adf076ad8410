import { useState } from "preact/hooks";

import {
  type FormatName,
  formatNames,
  formats,
  givenSecretOf,
} from "../../../outbound/formats/formats.ts";
import { type ApiError, callApi } from "../api.ts";
import { Detail } from "../layout.tsx";
import { toApiError } from "../load.ts";
import type { DestinationSecret } from "../wire.ts";

import {
  AlertsField,
  Field,
  FilterField,
  FormError,
  Limits,
  numberOrText,
  textOf,
} from "./destination-fields.tsx";

interface Parts {
  readonly close: string;
  readonly created: (destination: DestinationSecret) => void;
}

/** Creates a destination. Shows the errors of the server at their fields. */
export function DestinationForm({ close, created }: Parts) {
  const [format, setFormat] = useState<FormatName>("slack");
  const [filter, setFilter] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setIsBusy] = useState(false);

  async function create(form: FormData): Promise<void> {
    setIsBusy(true);
    setError(null);
    try {
      const body = bodyOf(form);
      created(await callApi<DestinationSecret>("v1/destinations", { method: "POST", body }));
    } catch (cause) {
      setError(toApiError(cause));
      setIsBusy(false);
    }
  }
  const secret = givenSecretOf(format);
  const errorOf = (name: string) => error?.fields.get(name) ?? null;

  return (
    <Detail label="New destination" close={close}>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void create(new FormData(event.currentTarget));
        }}
      >
        <h2>New destination</h2>
        <FormError error={error} fields={fieldNames} />
        <Field name="name" label="Name" error={errorOf("name")} hint="Such as deploys">
          {(field) => <input {...field} autocomplete="off" spellcheck={false} />}
        </Field>
        <Field name="format" label="Format" error={errorOf("format")}>
          {(field) => (
            <select
              {...field}
              value={format}
              // Guarantee: the options are the names of formats.
              onChange={(event) => setFormat(event.currentTarget.value as FormatName)}
            >
              {formatNames.map((name) => (
                <option key={name} value={name}>
                  {formats[name].label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field name="url" label="Address" error={errorOf("url")} hint={formats[format].address}>
          {(field) => <input {...field} autocomplete="off" spellcheck={false} inputMode="url" />}
        </Field>
        {secret !== null && (
          <Field
            name="secret"
            label={secret.label}
            error={errorOf("secret")}
            hint={`The ${secret.label.toLowerCase()} of ${secret.of}`}
          >
            {(field) => <input {...field} autocomplete="off" spellcheck={false} />}
          </Field>
        )}
        <FilterField value={filter} change={setFilter} error={errorOf("filter")} />
        <Limits errorOf={errorOf} />
        <AlertsField />
        <div class="actions">
          <button type="submit" class="primary" aria-disabled={isBusy}>
            {isBusy ? "Creating…" : "Create destination"}
          </button>
          <a class="button" href={close}>
            Cancel
          </a>
        </div>
      </form>
    </Detail>
  );
}

const fieldNames = [
  "name",
  "format",
  "url",
  "secret",
  "filter",
  "orderBy",
  "ratePerSecond",
  "maxConcurrent",
];

const numbers = ["ratePerSecond", "maxConcurrent"];

/** The request's body. Leaves out empty optional fields. */
function bodyOf(form: FormData): Record<string, string | number | boolean> {
  const body: Record<string, string | number | boolean> = { name: "", url: "" };
  for (const name of fieldNames) {
    const text = textOf(form, name);
    if (text !== "") body[name] = numbers.includes(name) ? numberOrText(text) : text;
  }
  if (form.get("alerts") !== null) body["alerts"] = true;
  return body;
}
