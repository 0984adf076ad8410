import { useState } from "preact/hooks";

import { Fields } from "../kit/form.tsx";
import type { CatalogueEntry } from "../kit/wire.ts";

/** The members of a request that the form gives. */
export function givenSecret(form: FormData): Record<string, unknown> {
  const how = form.get("how");
  if (how === "make") return { makeSecret: true };
  return how === "paste" ? { secret: form.get("secret") } : {};
}

interface Parts {
  /** Null if the provider is not known yet. */
  readonly of: Pick<CatalogueEntry, "displayName" | "secretKind" | "secretPrefix"> | null;
  /** Whether it can be stored later. */
  readonly isOptional?: boolean;
}

const labels = {
  shared: "Secret",
  "public-key": "Public key",
  account: "Account at the service",
} as const;

/** Fields for a webhook secret: to paste one, to make one, or to leave it for later. */
export function SecretFields({ of: provider, isOptional = false }: Parts) {
  const [chosen, choose] = useState("paste");
  const kind = provider?.secretKind ?? "shared";
  const service = provider?.displayName ?? "the service";
  const prefix = provider?.secretPrefix ?? null;
  const placeholder = prefix === null ? "" : `${prefix}…`;
  const choices = [
    ["paste", `Paste what ${service} shows`],
    ...(kind === "account" ? [] : [["make", makeLabel(kind, service)] as const]),
    ...(isOptional ? [["later", "Later. Until then its webhooks get 503."] as const] : []),
  ] as const;
  // A public key has several lines; a secret is not shown.
  const look = kind === "public-key" ? { rows: 3 } : { isSecret: true };
  const secret = { type: "text", label: labels[kind], placeholder } as const;
  return (
    <fieldset class="stack">
      <legend>{labels[kind]}</legend>
      {choices.map(([how, label]) => [
        <label class="choice" key={how}>
          <input
            type="radio"
            name="how"
            value={how}
            checked={chosen === how}
            onChange={() => choose(how)}
          />
          {label}
        </label>,
        how === "paste" && chosen === "paste" && (
          <Fields key="input" of={{ secret: { ...secret, ...look } }} />
        ),
      ])}
    </fieldset>
  );
}

function makeLabel(kind: "shared" | "public-key", service: string): string {
  return kind === "shared"
    ? `Make one, to enter at ${service} if it lets you choose`
    : `Make test keys. ${service}'s own deliveries need its public key.`;
}
