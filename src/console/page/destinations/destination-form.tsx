import { useState } from "preact/hooks";

import { destinationFields } from "../../../outbound/destination-fields.ts";
import { callApi } from "../api.ts";
import { Fields, Form, MoreFields, valuesIn } from "../form.tsx";
import { Detail } from "../layout.tsx";
import type { DestinationSecret } from "../wire.ts";

import { fieldsOfFormat, optionsOf } from "./destination-fields.ts";
import { FilterFields, useFilterInput } from "./filter-fields.tsx";

interface Parts {
  readonly close: string;
  readonly created: (destination: DestinationSecret) => void;
}

const { name, format: formatField, filter: filterField, alerts } = destinationFields;

/** Creates a destination. */
export function DestinationForm({ close, created }: Parts) {
  const [format, setFormat] = useState("slack");
  const [carrier, setCarrier] = useState("http");
  const [input, watchFilter] = useFilterInput({ filter: "", format, hasAlerts: false });
  const first = { name, format: formatField, ...fieldsOfFormat(format, carrier) };
  const options = optionsOf(format, carrier);
  const fields = { ...first, filter: filterField, ...options, alerts };
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
          created(await callApi<DestinationSecret>("v1/destinations", { method: "POST", body }));
        }}
        cancel={
          <a class="button" href={close}>
            Cancel
          </a>
        }
      >
        <Fields of={first} values={{ format, transport: carrier }} />
        <FilterFields of={filterField} input={input} stored={null} />
        <MoreFields title="Order, limits and more" of={options} />
        <Fields of={{ alerts }} />
      </Form>
    </Detail>
  );
}
