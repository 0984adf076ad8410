import { useEffect, useRef, useState } from "preact/hooks";

import { type ApiError, callApi } from "../kit/api.ts";
import { keepSecret } from "../kit/copy.tsx";
import { Fields, Form, valuesIn } from "../kit/form.tsx";
import { Page } from "../kit/layout.tsx";
import { useLoad } from "../kit/load.ts";
import { addRoute, go, pastedFile, writeRoute } from "../kit/route.ts";
import { counted, ExternalLink, type Of } from "../kit/text.tsx";
import { Empty, notify, Waiting } from "../kit/ui.tsx";
import type { Catalogue, CatalogueEntry, ProviderSetupWithSecret } from "../kit/wire.ts";

import { givenSecret, SecretFields } from "./secret-fields.tsx";

/** Adds a provider. `name`: a service of the catalogue, `pastedFile`, or empty for the choice. */
export function AddProvider({ name }: { readonly name: string }) {
  const loaded = useLoad<Catalogue>("v1/providers/catalogue");
  const { value } = loaded;
  const entry = value?.data.find((each) => each.name === name);
  const title = entry === undefined ? "Add a provider" : `Add ${entry.displayName}`;
  return (
    <Page
      title={name === pastedFile ? "Add a provider file" : title}
      look="narrow connect"
      actions={
        <a href={name === "" ? writeRoute("providers") : addRoute()}>
          {name === "" ? "All providers" : "All services"}
        </a>
      }
    >
      {name === pastedFile && <NewProvider entry={null} />}
      {name !== pastedFile && <Waiting for={loaded} what="catalogue" />}
      {name === "" && value !== null && <Services of={value.data} />}
      {entry !== undefined && <NewProvider entry={entry} />}
      {name !== "" && name !== pastedFile && value !== null && entry === undefined && (
        <Empty title={`The catalogue has no “${name}”`}>
          <p>
            <a href={addRoute()}>Choose a service</a>
          </p>
        </Empty>
      )}
    </Page>
  );
}

/** The catalogue, with a search field. */
function Services({ of: services }: Of<readonly CatalogueEntry[]>) {
  const [search, setSearch] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const wanted = search.trim().toLowerCase();
  const found = services.filter(({ name, displayName }) =>
    [name, displayName.toLowerCase()].some((text) => text.includes(wanted)),
  );
  return (
    <>
      <form
        class="panel"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          const [first] = found;
          if (wanted !== "" && first !== undefined) location.hash = addRoute(first.name);
        }}
      >
        <label class="field">
          <span class="label">Service</span>
          <input
            type="search"
            ref={field}
            value={search}
            placeholder={`Search ${counted(services.length, "service")}`}
            data-filter
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <p class="quiet">
          Not in the list? <a href={addRoute(pastedFile)}>Paste a provider file</a>.
        </p>
      </form>
      <ul class="services">
        {found.map(({ name, displayName, signature }) => (
          <li key={name}>
            <a href={addRoute(name)} data-row>
              <strong>{displayName}</strong> <span class="quiet">{signature}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="hidden-label" role="status">
        {counted(found.length, "service")}
      </p>
      {found.length === 0 && (
        <Empty title={`No service matches “${search.trim()}”`}>
          <p>
            <a href={addRoute(pastedFile)}>Paste a provider file</a>. Its{" "}
            <a href="docs/providers">format</a> takes any service that signs its webhooks.
          </p>
        </Empty>
      )}
    </>
  );
}

const fileFields = {
  file: { type: "text", label: "Provider file (YAML or JSON)", rows: 16 },
} as const;
const idFields = {
  id: { type: "text", label: "Name in URLs and events", hint: "Lower-case letters, digits and _" },
} as const;

/** The form for one provider: of the catalogue, or of a pasted file. */
function NewProvider({ entry }: { readonly entry: CatalogueEntry | null }) {
  return (
    <Form
      class="panel form"
      submit={["Add provider", "Adding…"]}
      shows={["id", "secret"]}
      problem={(error) => <Problems error={error} />}
      send={async (values) => {
        const source = entry === null ? { file: values.get("file") } : { catalogue: entry.name };
        const body = { ...source, ...valuesIn(values, idFields), ...givenSecret(values) };
        const made = await callApi<ProviderSetupWithSecret>("v1/providers", {
          method: "POST",
          body,
        });
        keepSecret(made.provider, made.madeSecret);
        notify(`${made.displayName} added`);
        go("providers", made.provider);
      }}
    >
      {entry !== null && <About entry={entry} />}
      {entry === null && <Fields of={fileFields} />}
      <Fields of={idFields} values={{ id: entry?.name }} />
      <SecretFields of={entry} isOptional />
    </Form>
  );
}

function About({ entry }: { readonly entry: CatalogueEntry }) {
  const { setUp, docs, checkedWith, signature } = entry;
  return (
    <div class="stack">
      {setUp !== null && <p>{setUp}</p>}
      <p class="quiet">
        {signature}.{checkedWith !== null && ` Checked with ${checkedWith}.`}{" "}
        {docs !== null && <ExternalLink to={docs}>Documentation of the service</ExternalLink>}
      </p>
    </div>
  );
}

/** Every error of a request. One that names a line of the file selects it. */
function Problems({ error }: { readonly error: ApiError }) {
  const details = error.details.length === 0 ? [error.message] : error.details;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [error]);
  return (
    <div class="problems" role="alert" ref={place}>
      <ul class="stack">
        {details.map((detail) => {
          const [, line, message = detail] = /^\w+\.yaml:(\d+): (.*)$/s.exec(detail) ?? [];
          return (
            <li key={detail}>
              {line !== undefined && (
                <button type="button" class="link" onClick={() => selectLine(Number(line))}>
                  Line {line}
                </button>
              )}{" "}
              {message}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Selects a line of the file, counted from 1, and scrolls to it. */
function selectLine(line: number): void {
  const area = document.querySelector<HTMLTextAreaElement>("#field-file");
  if (area === null) return;
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = (area.scrollHeight / lines.length) * Math.max(0, line - 4);
}
