import { isFixedSize, signatureSize } from "../signatures/encodings.ts";
import type { JwtScheme, TextScheme } from "../signatures/scheme.schema.ts";
import type { SignatureScheme } from "../signatures/scheme.ts";

/** Describes the form of a provider's signature. */
export function formOf(scheme: SignatureScheme): string {
  switch (scheme.kind) {
    case "basic-auth":
      return "`Basic` and base64 of user:password";
    case "url":
      return "the secret at the end of the URL";
    case "shared-secret":
      return scheme.prefix === undefined ? "the secret" : `"${scheme.prefix}" and the secret`;
    case "jwt":
      return tokenForm(scheme);
    default:
      return textForm(scheme);
  }
}

function tokenForm({ algorithms, prefix }: JwtScheme): string {
  const form = `a JSON Web Token signed with ${algorithms.join(" or ")}`;
  return prefix === undefined ? form : `"${prefix}" followed by ${form}`;
}

function textForm(scheme: TextScheme): string {
  const { prefix, items, timestamp } = scheme;
  const form = encodedForm(scheme);
  if (items !== undefined) {
    const time = timestamp?.item === undefined ? [] : [timeForm(timestamp)];
    return `of the form ${[...time, `${items.signature}<${form}>`].join(items.separator)}`;
  }
  return prefix === undefined ? form : `"${prefix}" followed by ${form}`;
}

type Timestamp = NonNullable<TextScheme["timestamp"]>;

/** How the time is written in the signature header. */
export function timeForm({ item = "t=", unit = "seconds" }: Partial<Timestamp> = {}): string {
  return `${item}<${unit === "iso8601" ? "ISO 8601 time" : `unix ${unit}`}>`;
}

function encodedForm(scheme: TextScheme): string {
  const { least, most } = signatureSize(scheme);
  const isExact = isFixedSize(scheme);
  switch (scheme.encoding) {
    case "hex":
    case "hex-upper":
    case "hex-any-case": {
      const which = { hex: "lower-case ", "hex-upper": "upper-case ", "hex-any-case": "" };
      return `${isExact ? most * 2 : `up to ${most * 2}`} ${which[scheme.encoding]}hex digits`;
    }
    case "base64":
    case "base64url": {
      const length = isExact
        ? `${most} bytes (${Math.ceil(most / 3) * 4} characters)`
        : `${least} to ${most} bytes`;
      return `${scheme.encoding} of ${scheme.encoding === "base64" ? length : `${most} bytes`}`;
    }
  }
}
