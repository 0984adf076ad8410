import { AddressError } from "../../../base/public-address.ts";
import { endpointOf, type Message, type Transport } from "../transport.ts";

import { awsSender, awsTarget } from "./aws.ts";
import { fillIn, requirePlaces } from "./broker-address.ts";

const example =
  "https://KEY:SECRET@bucket.s3.eu-west-1.amazonaws.com/events/{provider}/{date}/{id}.json";

/** Puts one object per message. Its key holds the message's id, so that a retry replaces it by the same. */
export const s3: Transport = {
  check(address, rules) {
    const { url } = awsTarget(address, example, rules);
    const path = pathOf(url);
    requirePlaces(path);
    if (!path.includes("{id}")) throw new AddressError(`The path must have {id}, like ${example}`);
    return endpointOf(url);
  },
  connect(address, parts) {
    const target = awsTarget(address, example, parts.rules);
    const send = awsSender(target, "s3", parts);
    const path = pathOf(target.url);
    return {
      async send(message, signal) {
        const url = new URL(target.url);
        url.pathname = fillIn(path, message);
        await send({ method: "PUT", url, headers: headersOf(message), body: message.body }, signal);
      },
      close() {},
    };
  },
};

/** Braces are percent-encoded in the path of a URL. */
const pathOf = ({ pathname }: URL) => pathname.replaceAll("%7B", "{").replaceAll("%7D", "}");

/** The headers as metadata of the object, under their names. */
function headersOf({ headers: { "content-type": type, ...headers } }: Message) {
  const metadata = Object.entries(headers).map(([name, value]) => [`x-amz-meta-${name}`, value]);
  return { ...(type !== undefined && { "content-type": type }), ...Object.fromEntries(metadata) };
}
