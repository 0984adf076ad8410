import { createHmac } from "node:crypto";

import { verifyWithFallback } from "@octokit/webhooks-methods";

import { nowSeconds, secrets, type SignedCase } from "./signed-case.ts";

/** A verifier that is not ours: a library, or what the service's own documentation tells to write. */
interface Reference {
  readonly name: string;
  readonly providers: readonly string[];
  readonly accepts: (tried: SignedCase) => boolean | Promise<boolean>;
}

const both = [secrets.current, secrets.previous];
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Compares bytes, as most examples on the web do: whatever decodes to the right bytes is right. */
const decoding =
  (algorithm: string, encoding: "hex" | "base64", prefix = "") =>
  ({ body, header }: SignedCase): boolean => {
    if (!header.startsWith(prefix)) return false;
    const given = Buffer.from(header.slice(prefix.length), encoding);
    return both.some((secret) => createHmac(algorithm, secret).update(body).digest().equals(given));
  };

/** Compares texts, as https://vercel.com/docs/webhooks/webhooks-api and Todoist's guide do. */
const comparing =
  (algorithm: string, encoding: "hex" | "base64") =>
  ({ body, header }: SignedCase): boolean =>
    both.some((secret) => createHmac(algorithm, secret).update(body).digest(encoding) === header);

export const references: readonly Reference[] = [
  {
    name: "@octokit/webhooks-methods",
    providers: ["code_host"],
    async accepts({ body, header }) {
      const text = textOf(body);
      // It throws on what is empty.
      if (text === "" || header === "") return false;
      return verifyWithFallback(secrets.current, text, header, [secrets.previous]);
    },
  },
  { name: "decoded hex", providers: ["code_host"], accepts: decoding("sha256", "hex", "sha256=") },
  { name: "decoded hex", providers: ["deploy_platform"], accepts: decoding("sha1", "hex") },
  { name: "equal texts", providers: ["deploy_platform"], accepts: comparing("sha1", "hex") },
  { name: "decoded base64", providers: ["task_tracker"], accepts: decoding("sha256", "base64") },
  { name: "equal texts", providers: ["task_tracker"], accepts: comparing("sha256", "base64") },
  { name: "JSON.stringify", providers: ["shared_inbox"], accepts: acceptsReserialised },
  { name: "stripe-node", providers: ["payment_processor"], accepts: acceptsAsStripe },
];

/** https://dev.frontapp.com/docs/webhooks-1: over the body parsed and printed again. */
function acceptsReserialised({ body, header }: SignedCase): boolean {
  try {
    const text = JSON.stringify(JSON.parse(textOf(body)));
    return both.some(
      (secret) => createHmac("sha1", secret).update(text).digest("base64") === header,
    );
  } catch {
    return false;
  }
}

/** The steps of stripe-node's Webhooks.ts (`parseHeader`, `verifyHeader`), with its tolerance of 300 s. */
function acceptsAsStripe({ body, header }: SignedCase): boolean {
  let timestamp = -1;
  const signatures: string[] = [];
  for (const item of header.split(",")) {
    const [key, value = ""] = item.split("=");
    if (key === "t") timestamp = Number.parseInt(value, 10);
    if (key === "v1") signatures.push(value);
  }
  if (timestamp === -1 || signatures.length === 0) return false;
  const text = `${timestamp}.${textOf(body)}`;
  const isSigned = both.some((secret) =>
    signatures.includes(createHmac("sha256", secret).update(text).digest("hex")),
  );
  return isSigned && !(nowSeconds - timestamp > 300);
}
