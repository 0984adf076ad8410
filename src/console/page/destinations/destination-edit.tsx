import { useState } from "preact/hooks";

import { destinationFields } from "../../../outbound/model/destination-fields.ts";
import type { FormField } from "../../../web/input.ts";
import { ApiError, callApi } from "../kit/api.ts";
import {
  changesIn,
  Fields,
  Form,
  type FormFields,
  type FormValues,
  MoreFields,
} from "../kit/form.tsx";
import { Text } from "../kit/text.tsx";
import { notify } from "../kit/ui.tsx";
import type { Destination } from "../kit/wire.ts";

import { operatorGateway } from "./destination-actions.tsx";
import { fieldsOfFormat, optionsOf } from "./destination-fields.ts";
import { FilterFields, useFilterInput } from "./filter-fields.tsx";

interface Parts {
  readonly destination: Destination;
  /** The destination in the API. */
  readonly path: string;
  /** Closes the form. */
  readonly done: () => void;
}

const { name, filter: filterField, maxConcurrent, alerts } = destinationFields;
const changedConcurrency = { ...maxConcurrent, hint: "From 1 to 64" };

/** Changes a destination. Sends only what was changed here. */
export function DestinationEdit({ destination, path, done }: Parts) {
  /** As it was when the form was opened, but for the fields whose conflicts were shown. */
  const [base, setBase] = useState(destination);
  const [input, watch] = useFilterInput({
    ...base,
    filter: base.filter ?? "",
    hasAlerts: base.alerts,
  });
  const { headers, tokenUrl, ...options } = optionsOf(base.format, base.transport);
  const changedOptions = { ...options, maxConcurrent: changedConcurrency };
  const isOfSettings = destination.name === operatorGateway;
  const first = isOfSettings ? {} : { name, ...keptFields(base, { headers, tokenUrl }) };
  const last: FormFields = base.ownerId === null ? { alerts } : {};
  const fields = { ...first, filter: filterField, ...changedOptions, ...last };

  async function save(values: FormData): Promise<void> {
    const changes = changesIn(values, fields, withoutUrl(base));
    if (Object.keys(changes).length === 0) return done();
    const latest = await callApi<Destination>(path);
    const conflicts = conflictsOf(changes, base, latest);
    if (conflicts.length > 0) {
      setBase(conflicts.reduce((known, each) => ({ ...known, [each]: latest[each] }), base));
      throw conflictError(conflicts, latest);
    }
    await callApi<Destination>(path, { method: "PATCH", body: changes });
    notify("Saved");
    done();
  }

  return (
    <Form
      title={
        <>
          Edit <Text of={destination.name} />
        </>
      }
      submit={["Save", "Saving…"]}
      shows={Object.keys(fields)}
      watch={watch}
      send={save}
      cancel={done}
      isFocused
    >
      {isOfSettings && (
        <p class="quiet">
          The server’s settings OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET define its name and
          URL.
        </p>
      )}
      <Fields of={first} values={withoutUrl(destination)} />
      <FilterFields of={filterField} input={input} stored={destination.filter} />
      <MoreFields
        title="Order, limits and more"
        of={changedOptions}
        values={{ ...destination }}
        isOpen
      />
      <Fields of={last} values={{ ...destination }} />
    </Form>
  );
}

/** The page does not know the URL: it is shown only in part. */
const withoutUrl = (destination: Destination) => ({ ...destination, url: "" });

/** URLs, secret and headers, which stay if their fields are empty: the page does not know them. */
function keptFields(
  { format, transport, url: shownUrl, headerNames, tokenUrl: shownTokenUrl }: Destination,
  { headers, tokenUrl }: Readonly<Record<"headers" | "tokenUrl", FormField | undefined>>,
): FormFields {
  const { url, secret } = fieldsOfFormat(format, transport);
  const kept = { isOptional: true, hint: "Unchanged unless you enter a new value" };
  return {
    url: { ...url, ...kept, hint: `${kept.hint}. ${url.hint}`, placeholder: shownUrl },
    ...(secret !== undefined && { secret: { ...secret, ...kept } }),
    ...(headers !== undefined && {
      headers: { ...headers, ...kept, isNullable: false, placeholder: headerNames ?? "None" },
    }),
    ...(tokenUrl !== undefined && {
      tokenUrl: { ...tokenUrl, ...kept, isNullable: false, placeholder: shownTokenUrl ?? "None" },
    }),
  };
}

/** The fields in which a conflict is noticed, by their names in a change. Secrets are not shown to anybody. */
const compared = {
  name: "name",
  url: "url",
  filter: "filter",
  orderBy: "orderBy",
  ratePerSecond: "ratePerSecond",
  maxConcurrent: "maxConcurrent",
  alerts: "alerts",
} as const;
type Compared = (typeof compared)[keyof typeof compared];

/** What somebody else has changed meanwhile, of what is changed here. */
function conflictsOf(changes: FormValues, base: Destination, latest: Destination): Compared[] {
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
    return [field, text] as const;
  });
  return new ApiError(409, "conflict", message, null, [], new Map(texts));
}
