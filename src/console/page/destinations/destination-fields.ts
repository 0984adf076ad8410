import { destinationFields } from "../../../outbound/destination-fields.ts";
import { formatInfo, givenSecretOf } from "../../../outbound/formats/formats.ts";
import type { FormField } from "../../../web/input.ts";

const { url, secret, orderBy, ratePerSecond, maxConcurrent } = destinationFields;

interface FieldsOfFormat {
  readonly url: FormField;
  readonly secret?: FormField;
}

/** What a format takes as its address, and as its secret if it takes one. */
export function fieldsOfFormat(format: string): FieldsOfFormat {
  const address = { ...url, hint: formatInfo(format)?.address ?? "" };
  const given = givenSecretOf(format);
  if (given === null) return { url: address };
  const { label, of } = given;
  const hint = `The ${label.toLowerCase()} of ${of}`;
  return { url: address, secret: { ...secret, label, hint } };
}

/** Most destinations leave them as they are. */
export const limits = { orderBy, ratePerSecond, maxConcurrent };
