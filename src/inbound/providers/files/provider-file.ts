import { errorMessage } from "../../../base/errors.ts";
import { deliveryPrefix, oneOrMore } from "../../../base/place.ts";
import { template } from "../../../base/template.ts";
import {
  firstOnly,
  problemsIn,
  type Rules,
  rulesOfEach,
  type ValueProblem,
} from "../../../base/value-problem.ts";
import { maxUnverifiedBytes } from "../../signatures/payload-reader.ts";
import { schemeRules } from "../../signatures/scheme-rules.ts";
import {
  isTokenInBody,
  readsPayload,
  secretPlacesOf,
  timePlacesOf,
} from "../../signatures/scheme.ts";
import { isOpaque } from "../interpret.ts";

import { checkedFile } from "./checked-file.ts";
import { signsAnswer } from "./handshakes.ts";
import { type FileText, fileTexts } from "./places.ts";
import { type ProviderFile, providerFileSchema } from "./provider-file.schema.ts";

/** Reads the text of a provider file. Throws a `FileError` that names every error. */
export function readProviderFile(name: string, text: string): ProviderFile {
  return checkedFile(name, text, providerFileSchema, fileProblems);
}

/** What is wrong with a file that fits the schema. */
export function fileProblems(file: ProviderFile): readonly ValueProblem[] {
  return [
    ...problemsIn(fileRules(file)),
    ...fileTexts(file).flatMap((each) => problemsIn(textRules(each, file), each.path)),
  ];
}

/** What can be wrong with a file that its schema cannot express. */
function fileRules(file: ProviderFile): Rules {
  const { payload, formField, signature, maxBodyBytes = 0, each, deliveryId, retryChanges } = file;
  const isClaims = signature.kind === "jwt" && isTokenInBody(signature);
  const signs = "signs" in signature ? JSON.stringify(signature.signs) : "";
  const hasItems = each !== undefined;
  const times = timePlacesOf(signature);
  const known = times.length === 0 ? "" : `, or ${times.join(" or ")}, the signed time`;
  return {
    signature: schemeRules(signature),
    formField: {
      '"formField" is for services that post a form: leave it out':
        formField !== undefined && payload === "jwt",
    },
    maxBodyBytes: {
      [`The signature needs a member of the payload, which is read only up to ${maxUnverifiedBytes} bytes: write that or less`]:
        maxBodyBytes > maxUnverifiedBytes && readsPayload(signature),
    },
    payload: {
      [`A body of ${payload} has no members: leave each, formField, payment and the pointers in retryChanges out`]:
        isOpaque(payload) &&
        (hasItems ||
          formField !== undefined ||
          file.payment !== undefined ||
          oneOrMore(retryChanges).some((place) => place.startsWith("/"))),
      '"payload: jwt" and a signature that is a token in the body go together':
        (payload === "jwt") !== isClaims,
      '{form} in "signs" needs "payload: form"':
        /\{(?:form|sortedForm)\}/.test(signs) && payload !== "form",
    },
    each: {
      ...rulesOfEach(oneOrMore(each), itemRules),
      "The fields of a form are texts, not items: leave each out":
        hasItems && payload === "form" && formField === undefined,
    },
    // Each item is an event of its own, so its id must be in it.
    deliveryId: rulesOfEach(oneOrMore(deliveryId), (place) => ({
      [`${place} is the same for all items: write a JSON pointer to the id in the item, or leave deliveryId out`]:
        hasItems && !place.startsWith("/"),
    })),
    retryChanges: rulesOfEach(oneOrMore(retryChanges), (place) => ({
      [`"${place}" is not part of what identifies an event: write a JSON pointer${known}`]:
        !/^(?:delivery)?\//.test(place) && !times.includes(place),
    })),
    payment: file.payment && {
      '"payment" reads the whole payload, so it cannot be used with "each"': hasItems,
      kinds: paymentRules(file, file.payment),
    },
    handshakes: rulesOfEach([...(file.handshakes ?? []).entries()], ([index, handshake]) => ({
      [index]: handshakeRules(handshake, signature),
    })),
  };
}

function itemRules(pointer: string): Rules {
  return firstOnly({
    [`"${pointer}" is no JSON pointer: write "/${pointer.replace(/^\/+/, "")}"`]:
      !/^(?:$|\/.)/.test(pointer),
    [`"${pointer}" names the entries: write "${pointer.slice(0, -2)}", their array`]:
      pointer.endsWith("/*"),
  });
}

function paymentRules(
  { events, bookingReference }: ProviderFile,
  { kinds, amount, id, refund }: NonNullable<ProviderFile["payment"]>,
): Rules {
  return rulesOfEach(Object.entries(kinds), ([name, kind]) => {
    const event = Object.hasOwn(events, name) ? events[name] : undefined;
    const rules = {
      [`"${name}" is none of "events": list it there too`]: event === undefined,
      [`Leave "notify" out of "${name}": payments notify`]: event?.notify === false,
      [`Write "bookingReference": where "${name}" has the id or reference of the booking`]:
        (event?.bookingReference ?? bookingReference) === undefined,
      [`Write "${kind}" in "amount": where "${name}" has the amount`]:
        typeof amount === "object" && amount[kind] === undefined,
      [`Write "refund": where "${name}" has the id of the refund that failed`]:
        kind === "refund_failed" && refund === undefined,
      [`Write "${kind}" in "id": where "${name}" has the id of the payment`]:
        typeof id === "object" && id[kind] === undefined,
    };
    return { [name]: firstOnly(rules) };
  });
}

function handshakeRules(
  handshake: NonNullable<ProviderFile["handshakes"]>[number],
  signature: ProviderFile["signature"],
): Rules {
  const { method = "POST", when, answer, verified = true, stored = false } = handshake;
  const adopts = handshake.adoptSecret !== undefined;
  const confirms = handshake.confirm !== undefined;
  const signs = signsAnswer(handshake);
  const hasSecret = signature.kind === "hmac" || signature.kind === "shared-secret";
  const isOfBody = signature.kind === "hmac" && signature.signs === "{body}";
  return {
    when: {
      [`Write "when": every ${method} would be a handshake`]:
        when === undefined && method !== "HEAD",
      ...rulesOfEach(Object.keys(when ?? {}), (place) => ({
        [`A ${method} has no body, so it cannot have ${place}`]:
          method !== "POST" && place.startsWith("/"),
      })),
    },
    stored: {
      "Only a POST that verifies is an event: leave stored out":
        stored && (method !== "POST" || !verified || adopts || confirms),
    },
    answer: {
      'Write either "json" or "text"': answer.json !== undefined && answer.text !== undefined,
      // A challenge could be what another scheme signs, such as a time and a token.
      "Only a request that verifies gets an HMAC: leave verified out. An unsigned GET gets one if the service signs exactly {body}":
        signs && !verified && !(method === "GET" && isOfBody),
      "The filters hmacSha256Hex and hmacSha256Base64 need a shared secret": signs && !hasSecret,
    },
    adoptSecret: {
      "A secret that is not known yet cannot verify: write verified: false": adopts && verified,
      "Only the secret of an HMAC or a shared secret can be sent": adopts && !hasSecret,
    },
    confirm: {
      "A URL is fetched only if the request verifies: leave verified out": confirms && !verified,
    },
  };
}

function textRules({ text, kind }: FileText, file: ProviderFile): Rules {
  try {
    const places = kind === "place" ? [text] : template(text, kind).places;
    return kind === "exact" ? {} : rulesOfEach(places, (place) => placeRules(place, file));
  } catch (error) {
    return { [errorMessage(error)]: true };
  }
}

/** Events must not hold secrets. */
function placeRules(place: string, { payload, signature, each }: ProviderFile): Rules {
  const pointer = place.replace(/^delivery/, "");
  // Another member of the body that proves the origin is a signature, which the body shows anyway, or the name of an account.
  const isPointer = place !== "" && !/^(?:header|query)\./.test(place);
  const isShown = isPointer && signature.kind !== "shared-secret";
  return firstOnly({
    [`{${place}} is only for files with "each": write {${pointer}}`]:
      place.startsWith(deliveryPrefix) && each === undefined,
    [`{${place}}: a body of ${payload} has only {/text}`]:
      isOpaque(payload) && isPointer && place !== "/text",
    [`{${place}} holds the signature or the secret, which no event may show`]:
      !isShown && secretPlacesOf(signature).includes(pointer),
  });
}
