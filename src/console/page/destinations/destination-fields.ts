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
  const given = givenSecretOf(format);
  const hint = `The ${given?.label.toLowerCase()} of ${given?.of}`;
  return {
    url: { ...url, hint: formatInfo(format)?.address ?? "" },
    ...(given !== null && { secret: { ...secret, label: given.label, hint } }),
  };
}

/** Most destinations leave them as they are. */
export const limits = { orderBy, ratePerSecond, maxConcurrent };
