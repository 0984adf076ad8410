import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { formats, givenSecretOf } from "../../../outbound/formats/formats.ts";
import { ApiError, callApi } from "../api.ts";
import { toApiError } from "../load.ts";
import { Text } from "../text.tsx";
import { notify } from "../ui.tsx";
import type { Destination } from "../wire.ts";

import { operatorGateway } from "./destination-actions.tsx";
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
  readonly destination: Destination;
  /** The destination in the API. */
  readonly path: string;
  /** Closes the form. */
  readonly done: () => void;
}

/** Changes a destination. Sends only what was changed here, and shows the errors of the server at their fields. */
export function DestinationEdit({ destination, path, done }: Parts) {
  /** As it was when the form was opened, but for the fields whose conflicts were shown. */
  const [base, setBase] = useState(destination);
  const [filter, setFilter] = useState(base.filter ?? "");
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // Before the next key is pressed: an effect after painting would take the focus from a field just chosen.
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);
  const errorOf = (name: string) => error?.fields.get(name) ?? null;
  useLayoutEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  const isOfSettings = destination.name === operatorGateway;

  async function save(changes: Changes): Promise<void> {
    setIsBusy(true);
    setError(null);
    try {
      const latest = await callApi<Destination>(path);
      const conflicts = conflictsOf(changes, base, latest);
      if (conflicts.length > 0) {
        setBase(conflicts.reduce((known, name) => ({ ...known, [name]: latest[name] }), base));
        throw conflictError(conflicts, latest);
      }
      await callApi<Destination>(path, { method: "PATCH", body: changes });
      notify("Saved");
      done();
    } catch (cause) {
      setError(toApiError(cause));
      setIsBusy(false);
    }
  }

  return (
    <form
      class="form"
      noValidate
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        const changes = changesIn(new FormData(event.currentTarget), base);
        if (Object.keys(changes).length === 0) done();
        else if (!isBusy) void save(changes);
      }}
    >
      <h2>
        Edit <Text of={destination.name} />
      </h2>
      <FormError error={error} fields={isOfSettings ? changeable : [...identity, ...changeable]} />
      {isOfSettings ? (
        <p class="quiet">
          The server’s settings OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET define its name and
          address.
        </p>
      ) : (
        <Identity of={base} errorOf={errorOf} />
      )}
      <FilterField value={filter} change={setFilter} error={errorOf("filter")} />
      <Limits errorOf={errorOf} of={base} />
      {base.ownerId === null && <AlertsField isOn={base.alerts} />}
      <div class="actions">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {isBusy ? "Saving…" : "Save"}
        </button>
        <button type="button" onClick={done}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** The fields of every destination, and those that the settings define for the operator gateway. */
const changeable = ["filter", "orderBy", "ratePerSecond", "maxConcurrent"];
const identity = ["name", "url", "secret"];

interface IdentityParts {
  readonly of: Destination;
  readonly errorOf: (name: string) => string | null;
}

/** Name, address and routing key. The page does not know the parts of an address that are secret. */
function Identity({ of: { name, address, format }, errorOf }: IdentityParts) {
  const secret = givenSecretOf(format);
  return (
    <>
      <Field name="name" label="Name" error={errorOf("name")}>
        {(field) => <input {...field} defaultValue={name} autocomplete="off" spellcheck={false} />}
      </Field>
      <Field
        name="url"
        label="Address"
        error={errorOf("url")}
        hint={`Empty: keeps the stored address. Otherwise: ${formats[format].address}`}
      >
        {(field) => (
          <input
            {...field}
            placeholder={address}
            autocomplete="off"
            spellcheck={false}
            inputMode="url"
          />
        )}
      </Field>
      {secret !== null && (
        <Field
          name="secret"
          label={secret.label}
          error={errorOf("secret")}
          hint="Empty: keeps the stored one"
        >
          {(field) => <input {...field} autocomplete="off" spellcheck={false} />}
        </Field>
      )}
    </>
  );
}

type Changes = Readonly<Record<string, string | number | boolean | null>>;

/** What the form changes. A number that is none goes as text, for the server's error. */
function changesIn(form: FormData, base: Destination): Changes {
  const changes: Record<string, string | number | boolean | null> = {};
  // Not shown for the operator gateway, which the server's settings define.
  if (form.has("name") && textOf(form, "name") !== base.name)
    changes["name"] = textOf(form, "name");
  for (const name of ["url", "secret"]) {
    const text = textOf(form, name);
    if (text !== "") changes[name] = text;
  }
  for (const name of ["filter", "orderBy"] as const) {
    const text = textOf(form, name);
    if (text !== (base[name] ?? "").trim()) changes[name] = text === "" ? null : text;
  }
  for (const name of ["ratePerSecond", "maxConcurrent"] as const) {
    const text = textOf(form, name);
    const isNone = text === "" && name === "ratePerSecond";
    if (text !== String(base[name] ?? "")) changes[name] = isNone ? null : numberOrText(text);
  }
  const alerts = form.get("alerts") !== null;
  if (base.ownerId === null && alerts !== base.alerts) changes["alerts"] = alerts;
  return changes;
}

/** The fields in which a conflict is noticed, by their names in a change. Secrets are not shown to anybody. */
const compared = {
  name: "name",
  url: "address",
  filter: "filter",
  orderBy: "orderBy",
  ratePerSecond: "ratePerSecond",
  maxConcurrent: "maxConcurrent",
  alerts: "alerts",
} as const;
type Compared = (typeof compared)[keyof typeof compared];

/** What somebody else has changed meanwhile, of what is changed here. */
function conflictsOf(changes: Changes, base: Destination, latest: Destination): Compared[] {
  return Object.entries(compared).flatMap(([name, field]) =>
    name in changes && base[field] !== latest[field] && changes[name] !== latest[field]
      ? [field]
      : [],
  );
}

function conflictError(conflicts: readonly Compared[], latest: Destination): ApiError {
  const message = "Someone else changed this destination while you edited it.";
  const texts = conflicts.map((field) => {
    const value = latest[field];
    const now =
      value === null ? "nothing" : value === true ? "on" : value === false ? "off" : value;
    const text = `Somebody else set this to ${now}. Save again to replace it.`;
    return [field === "address" ? "url" : field, text] as const;
  });
  return new ApiError(409, "conflict", message, null, [], new Map(texts));
}
