import { useState } from "preact/hooks";

import { destinationFields } from "../../../outbound/model/destination-fields.ts";
import { AdminsOnly } from "../kit/admins-only.tsx";
import { callApi } from "../kit/api.ts";
import { keepSecret } from "../kit/copy.tsx";
import { Fields, Form, MoreFields, valuesIn } from "../kit/form.tsx";
import { Detail } from "../kit/layout.tsx";
import { type Route, writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import type { DestinationSecret } from "../kit/wire.ts";

import { fieldsOfFormat, optionsOf } from "./destination-fields.ts";
import { FilterFields, useFilterInput } from "./filter-fields.tsx";

interface Parts {
  readonly close: string;
  readonly route: Route;
  /** Called after it was created, so that the list loads again. */
  readonly changed: () => void;
}

const { name, format: formatField, filter: filterField, alerts } = destinationFields;

/** Creates a destination. */
export function DestinationForm({ close, route, changed }: Parts) {
  const [format, setFormat] = useState("slack");
  const [carrier, setCarrier] = useState("http");
  const [input, watchFilter] = useFilterInput({ filter: "", format, hasAlerts: false });
  const first = { name, format: formatField, ...fieldsOfFormat(format, carrier) };
  const options = optionsOf(format, carrier);
  const fields = { ...first, filter: filterField, ...options, alerts };
  if (!isAdmin()) {
    return (
      <Detail label="New destination" close={close}>
        <AdminsOnly />
      </Detail>
    );
  }
  return (
    <Detail label="New destination" close={close}>
      <Form
        title="New destination"
        submit={["Create destination", "Creating…"]}
        shows={Object.keys(fields)}
        watch={(textOf) => {
          setFormat(textOf("format"));
          setCarrier(textOf("transport") || "http");
          watchFilter(textOf);
        }}
        send={async (values) => {
          const body = valuesIn(values, fields);
          const made = await callApi<DestinationSecret>("v1/destinations", {
            method: "POST",
            body,
          });
          keepSecret(made.id, made.secret);
          changed();
          return writeRoute("destinations", made.id, route.query);
        }}
        cancel={close}
      >
        <Fields of={first} values={{ format, transport: carrier }} />
        <FilterFields of={filterField} input={input} stored={null} />
        <MoreFields title="Order, limits and more" of={options} />
        <Fields of={{ alerts }} />
      </Form>
    </Detail>
  );
}
