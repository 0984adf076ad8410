import { useId } from "preact/hooks";

import { useFieldError } from "../form.tsx";
import type { CatalogueEntry } from "../wire.ts";

/** What the form knows of the secret. */
export interface GivenSecret {
  readonly how: "paste" | "make" | "later";
  readonly text: string;
}

export const emptySecret: GivenSecret = { how: "paste", text: "" };

/** The members of a request. */
export function givenSecret({ how, text }: GivenSecret): Record<string, unknown> {
  if (how === "make") return { makeSecret: true };
  return how === "paste" ? { secret: text } : {};
}

type Described = Pick<CatalogueEntry, "displayName" | "secretKind" | "secretPrefix">;

interface Parts {
  /** Null if the provider is not known yet. */
  readonly of: Described | null;
  readonly given: GivenSecret;
  readonly change: (given: GivenSecret) => void;
  /** Whether it can be stored later. */
  readonly isOptional?: boolean;
}

const labels = {
  shared: "Secret",
  "public-key": "Public key",
  account: "Account at the service",
} as const;

/** Fields for a webhook secret: to paste one, to make one, or to leave it for later. */
export function SecretFields({ of: provider, given, change, isOptional = false }: Parts) {
  const name = useId();
  const kind = provider?.secretKind ?? "shared";
  const service = provider?.displayName ?? "the service";
  const choices = [
    ["paste", `Paste what ${service} shows`],
    ...(kind === "account" ? [] : [["make", makeLabel(kind, service)] as const]),
    ...(isOptional ? [["later", "Later. Until then its webhooks get 503."] as const] : []),
  ] as const;
  return (
    <fieldset class="stack">
      <legend>{labels[kind]}</legend>
      {choices.map(([how, label]) => [
        <label class="choice" key={how}>
          <input
            type="radio"
            name={name}
            value={how}
            checked={given.how === how}
            onChange={() => change({ ...given, how })}
          />
          {label}
        </label>,
        how === "paste" && given.how === "paste" && (
          <SecretInput
            key="input"
            kind={kind}
            prefix={provider?.secretPrefix ?? null}
            given={given}
            change={change}
          />
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

interface InputParts extends Pick<Parts, "given" | "change"> {
  readonly kind: keyof typeof labels;
  readonly prefix: string | null;
}

/** A public key has several lines; a secret is not shown. */
function SecretInput({ kind, prefix, given, change }: InputParts) {
  const error = useFieldError("secret");
  const shared = {
    "aria-label": labels[kind],
    placeholder: prefix === null ? "" : `${prefix}…`,
    "aria-required": true,
    "aria-invalid": error !== null,
    "aria-describedby": "field-secret-note",
    autocomplete: "off",
    spellcheck: false,
    value: given.text,
  };
  const set = (text: string) => change({ ...given, text });
  return (
    <div class={error === null ? "secret" : "secret invalid"}>
      {kind === "public-key" ? (
        <textarea
          {...shared}
          name="secret"
          rows={3}
          onInput={(event) => set(event.currentTarget.value)}
        />
      ) : (
        <input
          {...shared}
          name="secret"
          type="password"
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
      <p class="error" id="field-secret-note">
        {error}
      </p>
    </div>
  );
}
