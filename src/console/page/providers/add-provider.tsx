import { useEffect, useRef, useState } from "preact/hooks";

import { serviceCategories } from "../../../inbound/model/service-categories.ts";
import { type ApiError, callApi } from "../kit/api.ts";
import { keepSecret } from "../kit/copy.tsx";
import { Fields, Form, valuesIn } from "../kit/form.tsx";
import { Page } from "../kit/layout.tsx";
import { useLoad } from "../kit/load.ts";
import { addRoute, pastedFile, writeRoute } from "../kit/route.ts";
import { counted, type Of, words } from "../kit/text.tsx";
import { Empty, notify, Source, Waiting } from "../kit/ui.tsx";
import type { Catalogue, CatalogueEntry, ProviderSetupWithSecret } from "../kit/wire.ts";

import { Address } from "./address.tsx";
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
      <Waiting for={loaded} what="catalogue" />
      {value !== null && name === pastedFile && (
        <NewProvider entry={null} publicUrl={value.publicUrl} />
      )}
      {name === "" && value !== null && <Services of={value.data} />}
      {value !== null && entry !== undefined && (
        <NewProvider entry={entry} publicUrl={value.publicUrl} />
      )}
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
  const found = services.filter(({ name, displayName, category }) =>
    [name, displayName, words(category ?? "other")].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
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
      {[...serviceCategories, null].map((category) => {
        const members = found.filter((each) => each.category === category);
        if (members.length === 0) return null;
        const id = `in-${category}`;
        return (
          <section class="services" key={id} aria-labelledby={id}>
            <h2 id={id}>{words(category ?? "other")}</h2>
            {members.map(({ name, displayName, signature }) => (
              <a key={name} href={addRoute(name)} data-row>
                <strong class="origin">
                  <Source of={name} name={displayName} />
                </strong>
                <span class="quiet">{signature}</span>
              </a>
            ))}
          </section>
        );
      })}
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

interface NewParts {
  /** Null for a pasted file. */
  readonly entry: CatalogueEntry | null;
  readonly publicUrl: string | null;
}

/** The form for one provider. Shows the URL first: some services ask for it before they show their secret. */
function NewProvider({ entry, publicUrl }: NewParts) {
  const [id, setId] = useState(entry?.name ?? "");
  return (
    <>
      <Address of={entry} path={`/webhooks/${id === "" ? "…" : id}`} publicUrl={publicUrl}>
        <p class="quiet">It answers once the provider is added.</p>
      </Address>
      <Form
        class="panel form"
        submit={["Add provider", "Adding…"]}
        title="2. Add it with its secret"
        shows={["id", "secret"]}
        watch={(textOf) => setId(textOf("id"))}
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
          return writeRoute("providers", made.provider);
        }}
      >
        {entry === null && <Fields of={fileFields} />}
        <Fields of={idFields} values={{ id: entry?.name }} />
        <SecretFields of={entry} isOptional />
        {entry !== null && (
          <p class="quiet">
            {entry.signature}.{entry.checkedWith !== null && ` Checked with ${entry.checkedWith}.`}
          </p>
        )}
      </Form>
    </>
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
