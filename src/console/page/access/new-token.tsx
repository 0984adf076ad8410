import { useState } from "preact/hooks";

import type { FormField } from "../../../web/input.ts";
import { callApi } from "../kit/api.ts";
import { CopyButton, SecretOnce } from "../kit/copy.tsx";
import { Fields, Form, valuesIn } from "../kit/form.tsx";
import { Detail } from "../kit/layout.tsx";
import { isAdmin } from "../kit/session.ts";
import { type Of, Text } from "../kit/text.tsx";
import type { AgentToken, Allowance, NewApiKey } from "../kit/wire.ts";

interface Parts {
  readonly close: string;
  /** Called when a token was made, so that the list loads again. */
  readonly made: () => void;
}

const fields = {
  name: { type: "text", label: "Name", hint: "By which you recognize it, such as Claude Code" },
  days: { type: "integer", label: "Valid for days", hint: "1 to 30", isOptional: true },
} as const;

/** What a token may allow beyond reading. */
const allowances: Readonly<Record<Allowance, FormField>> = {
  writes: { type: "flag", label: "Writes: replay and retry events, send tests, mute issues" },
  bodies: {
    type: "flag",
    label: "Bodies: read the bodies of webhooks, which may hold personal data",
  },
};

const keyFields = {
  name: { ...fields.name, hint: "By which you recognize it, such as the program's name" },
  role: { type: "choice", label: "Role", hint: "Choose the least that the program needs" },
  days: { ...fields.days, hint: "1 to 365" },
} as const;

/** Makes an API key, and shows it until the pane is left. */
export function NewKey({ close, made }: Parts) {
  const [key, setKey] = useState<NewApiKey | null>(null);
  const words = ["user", "operator", ...(isAdmin() ? ["admin"] : [])];
  const shown = { ...keyFields, role: { ...keyFields.role, words } };
  return (
    <Detail label="New API key" close={close}>
      {key === null ? (
        <Form
          title="New API key"
          submit={["Create API key", "Creating…"]}
          shows={Object.keys(keyFields)}
          isFocused
          send={async (values) => {
            const body = valuesIn(values, keyFields);
            setKey(await callApi<NewApiKey>("v1/keys", { method: "POST", body }));
            made();
          }}
          cancel={close}
        >
          <Fields of={shown} values={{ role: "user", days: "90" }} />
        </Form>
      ) : (
        <article class="destination">
          <h2>
            <Text of={key.name} />
          </h2>
          <SecretOnce
            title="API key"
            secret={key.key}
            advice="Copy it now: it is not shown again. Send it as Authorization: Bearer …"
          />
        </article>
      )}
    </Detail>
  );
}

/** Makes a token, and shows it until the pane is left. */
export function NewToken({ close, made }: Parts) {
  const [token, setToken] = useState<AgentToken | null>(null);
  if (token !== null) {
    return (
      <Detail label="New token" close={close}>
        <SetUp of={token} />
      </Detail>
    );
  }
  return (
    <Detail label="New token" close={close}>
      <Form
        title="New token"
        submit={["Create token", "Creating…"]}
        shows={Object.keys(fields)}
        isFocused
        send={async (values) => {
          const allowed = Object.keys(allowances).filter((word) => values.has(word));
          const body = { ...valuesIn(values, fields), allowed };
          setToken(await callApi<AgentToken>("v1/sessions", { method: "POST", body }));
          made();
        }}
        cancel={close}
      >
        <Fields of={fields} values={{ days: "7" }} />
        <fieldset class="stack">
          <legend>Allowed beyond reading</legend>
          <Fields of={allowances} />
        </fieldset>
      </Form>
    </Detail>
  );
}

/** The token, and the set-up of each client. */
function SetUp({ of: { name, token } }: Of<AgentToken>) {
  return (
    <article class="destination">
      <h2>
        <Text of={name} />
      </h2>
      <SecretOnce
        title="Token"
        secret={token}
        advice="Copy it now: it is not shown again. The commands below contain it."
      />
      {setUps(new URL(".", location.href).href, token).map(([client, text]) => (
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
