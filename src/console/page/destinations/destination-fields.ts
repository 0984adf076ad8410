import { formatInfo, givenSecretOf, isSigned } from "../../../outbound/formats/formats.ts";
import { destinationFields } from "../../../outbound/model/destination-fields.ts";
import { type TransportName, transports } from "../../../outbound/transports/transports.ts";
import type { FormField } from "../../../web/input.ts";

const { url, secret, transport, orderBy, ratePerSecond, maxConcurrent } = destinationFields;
const { retryDelays, batchMaxItems, batchMaxWaitMs, headers, tokenUrl, template } =
  destinationFields;

interface FieldsOfFormat {
  readonly transport?: FormField;
  readonly url: FormField;
  readonly secret?: FormField;
}

/** What carries a format, what it takes as its URL, and as its secret if it takes one. */
export function fieldsOfFormat(format: string, carrier: string): FieldsOfFormat {
  if (isSigned(format)) {
    const words = transport.words.filter((word) => word !== "smtp");
    const byHttp = formatInfo(format)?.url ?? "";
    const hint = carrier === "http" ? byHttp : urlBy(carrier);
    return { transport: { ...transport, words }, url: { ...url, hint } };
  }
  const urlField = { ...url, hint: formatInfo(format)?.url ?? "" };
  const given = givenSecretOf(format);
  if (given === null) return { url: urlField };
  const { label, of } = given;
  const hint = `The ${label.toLowerCase()} of ${of}`;
  return { url: urlField, secret: { ...secret, label, hint } };
}

const urlBy = (carrier: string): string =>
  // Guarantee: the choices are the names of transports.
  Object.hasOwn(transports, carrier) ? transports[carrier as TransportName].url : "";

/** Most destinations leave them as they are. */
const limits = { orderBy, ratePerSecond, maxConcurrent, retryDelays };

/** What a format can have besides. */
export function optionsOf(format: string, carrier: string): Readonly<Record<string, FormField>> {
  const isBatched = format === "json" && carrier === "http";
  return {
    ...limits,
    ...(isSigned(format) && { headers }),
    ...(isSigned(format) && carrier === "http" && { tokenUrl }),
    ...(format === "json" && { template }),
    ...(isBatched && { batchMaxItems, batchMaxWaitMs }),
  };
}
