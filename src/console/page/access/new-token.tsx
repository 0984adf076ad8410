import { useState } from "preact/hooks";

import type { FormField } from "../../../web/input.ts";
import { callApi } from "../kit/api.ts";
import { CopyButton, SecretOnce } from "../kit/copy.tsx";
import { Fields, Form, type FormFields, valuesIn } from "../kit/form.tsx";
import { Detail } from "../kit/layout.tsx";
import { isAdmin } from "../kit/session.ts";
import { type Of, Text } from "../kit/text.tsx";
import type { AgentToken, Allowance, NewApiKey } from "../kit/wire.ts";

interface Parts {
  readonly isKey: boolean;
  readonly close: string;
  /** Called when a token was made, so that the list loads again. */
  readonly made: () => void;
}

const fieldsOf = (isKey: boolean): FormFields => ({
  name: {
    type: "text",
    label: "Name",
    hint: `Its name in lists, such as ${isKey ? "Nightly export" : "Claude Code"}`,
  },
  ...(isKey && {
    role: {
      type: "choice",
      label: "Role",
      hint: "Choose the least that the program needs",
      words: ["user", "operator", ...(isAdmin() ? ["admin"] : [])],
    },
  }),
  days: {
    type: "integer",
    label: "Valid for days",
    hint: `1 to ${isKey ? 365 : 30}`,
    isOptional: true,
  },
});

/** What a token may allow beyond reading. */
const allowances: Readonly<Record<Allowance, FormField>> = {
  writes: { type: "flag", label: "Writes: replay and retry events, send tests, mute issues" },
  bodies: {
    type: "flag",
    label: "Bodies: read the bodies of webhooks, which may hold personal data",
  },
};

/** Makes a token for an agent or an API key, and shows it until the pane is left. */
export function NewToken({ isKey, close, made }: Parts) {
  const [created, setCreated] = useState<AgentToken | NewApiKey | null>(null);
  const what = isKey ? "API key" : "token";
  const fields = fieldsOf(isKey);
  async function send(values: FormData) {
    const allowed = Object.keys(allowances).filter((word) => values.has(word));
    const given = valuesIn(values, fields);
    const [path, body] = isKey ? ["v1/keys", given] : ["v1/sessions", { ...given, allowed }];
    setCreated(await callApi<AgentToken | NewApiKey>(path, { method: "POST", body }));
    made();
  }
  return (
    <Detail label={`New ${what}`} close={close}>
      {created !== null ? (
        <Created of={created} />
      ) : (
        <Form
          title={`New ${what}`}
          submit={[`Create ${what}`, "Creating…"]}
          shows={Object.keys(fields)}
          isFocused
          send={send}
          cancel={close}
        >
          <Fields of={fields} values={isKey ? { role: "user", days: "90" } : { days: "7" }} />
          {!isKey && (
            <fieldset class="stack">
              <legend>Allowed beyond reading</legend>
              <Fields of={allowances} />
            </fieldset>
          )}
        </Form>
      )}
    </Detail>
  );
}

/** The key, or the token and the set-up of each client. */
function Created({ of: created }: Of<AgentToken | NewApiKey>) {
  const isKey = "key" in created;
  const clients = isKey ? [] : setUps(new URL(".", location.href).href, created.token);
  const use = isKey ? "Send it as Authorization: Bearer …" : "The commands below contain it.";
  return (
    <article class="destination">
      <h2>
        <Text of={created.name} />
      </h2>
      <SecretOnce
        title={isKey ? "Key" : "Token"}
        secret={isKey ? created.key : created.token}
        advice={`Copy it now: it is not shown again. ${use}`}
      />
      {clients.map(([client, text]) => (
        <section key={client} class="stack" aria-label={client}>
          <h3>{client}</h3>
          <pre class="address">{text}</pre>
          <p>
            <CopyButton
              label={text.startsWith("{") ? "Copy file" : "Copy command"}
              text={() => text}
            />
          </p>
        </section>
      ))}
    </article>
  );
}

/** `base`: the URL of this server, with a slash at its end. */
function setUps(base: string, token: string): readonly (readonly [string, string])[] {
  const url = `${base}mcp`;
  const headers = { Authorization: `Bearer ${token}` };
  const servers = { servers: { skyhook: { type: "http", url, headers } } };
  return [
    [
      "Claude Code",
      `claude mcp add --transport http skyhook ${url} --header "Authorization: Bearer ${token}"`,
    ],
    ["VS Code, in .vscode/mcp.json", JSON.stringify(servers, null, 2)],
    [
      "Clients that start a program",
      `SKYHOOK_MCP_TOKEN=${token} skyhook mcp --server ${base.replace(/\/$/, "")}`,
    ],
  ];
}
