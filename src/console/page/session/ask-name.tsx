import { useState } from "preact/hooks";

import { unnamedConsole } from "../../../base/context.ts";
import { callApi } from "../kit/api.ts";
import { sessionPath } from "../kit/early.ts";
import { Fields, Form, valuesIn } from "../kit/form.tsx";
import { signIn } from "../kit/session.ts";
import { nameKey } from "../kit/sign-out.ts";
import type { SessionInfo } from "../kit/wire.ts";

/** The name to sign in by a link with, if it is known. */
export function rememberedName(): { readonly name?: string } {
  const name = localStorage.getItem(nameKey) ?? "";
  return name === "" ? {} : { name };
}

const fields = {
  name: { type: "text", label: "Your name", hint: "For the audit list, which says who did what" },
} as const;

interface Parts {
  readonly session: SessionInfo;
}

/** Asks who signed in by a link without a name, once until they sign out. Does not keep them from working. */
export function AskName({ session: { actor } }: Parts) {
  const [isOpen, setIsOpen] = useState(
    actor === unnamedConsole && localStorage.getItem(nameKey) === null,
  );
  if (!isOpen) return null;
  return (
    <section class="panel ask" aria-label="Your name">
      <Form
        submit={["Save", "Saving…"]}
        shows={Object.keys(fields)}
        send={async (values) => {
          const body = valuesIn(values, fields);
          const named = await callApi<SessionInfo>(sessionPath, { method: "POST", body });
          localStorage.setItem(nameKey, String(body["name"]));
          signIn(named);
        }}
        cancel={() => {
          localStorage.setItem(nameKey, "");
          setIsOpen(false);
        }}
        cancelLabel="Not now"
      >
        <Fields of={fields} />
      </Form>
    </section>
  );
}
