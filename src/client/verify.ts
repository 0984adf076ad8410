import { Webhook } from "standardwebhooks";

type HeaderValues = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook of Skyhook over its exact body, and returns the message. Throws an error of `standardwebhooks` for a
 * wrong or missing signature, and for a time more than five minutes off. `secrets`: `whsec_…`, several during a
 * rotation. `prefix`: `skyhook-` for the format `original`.
 */
export function verifyAs<Message>(
  body: string,
  headers: HeaderValues,
  secrets: string | readonly string[],
  { prefix = "" }: { readonly prefix?: string | undefined } = {},
): Message {
  const given: Record<string, string> = {};
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    const value = headers instanceof Headers ? headers.get(prefix + name) : headers[prefix + name];
    if (typeof value === "string") given[name] = value;
  }
  const all = typeof secrets === "string" ? [secrets] : secrets;
  let failure: unknown = new Error("There is no secret");
  for (const secret of all) {
    try {
      new Webhook(secret).verify(body, given, { jsonParse: false });
    } catch (error) {
      failure = error;
      continue;
    }
    // Guarantee: only Skyhook and the caller know the secret, and Skyhook sends such messages.
    return JSON.parse(body) as Message;
  }
  throw failure;
}
