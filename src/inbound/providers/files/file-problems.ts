import { errorMessage } from "../../../base/errors.ts";
import { deliveryPrefix, oneOrMore } from "../../../base/place.ts";
import { template } from "../../../base/template.ts";
import { maxUnverifiedBytes } from "../../signatures/payload-reader.ts";
import { schemeProblems } from "../../signatures/scheme-problems.ts";
import {
  headerIn,
  isTokenInBody,
  readsPayload,
  secretPlacesOf,
  timePlacesOf,
} from "../../signatures/scheme.ts";

import { signsAnswer } from "./handshakes.ts";
import { answerTemplates, eventTemplates, type FileTemplate } from "./places.ts";
import type { ProviderFile } from "./provider-file.schema.ts";
import type { ValueProblem } from "./schema-errors.ts";

/** What is wrong with a file that its schema cannot express, and what to write instead. */
export function fileProblems(file: ProviderFile): readonly ValueProblem[] {
  return [
    ...schemeProblems(file.signature).map(({ path, message }) => ({
      path: ["signature", ...path],
      message,
    })),
    ...bodyProblems(file),
    ...eventTemplates(file).flatMap((each) => eventTemplateProblems(each, file)),
    ...answerTemplates(file).flatMap(templateProblems),
    ...placeProblems(file),
    ...itemProblems(file),
    ...retryProblems(file),
    ...paymentProblems(file),
    ...handshakeProblems(file),
  ];
}

function bodyProblems({
  body,
  formField,
  signature,
  maxBodyBytes = 0,
}: ProviderFile): readonly ValueProblem[] {
  const problems: ValueProblem[] = [];
  const add = (name: string, message: string) => problems.push({ path: [name], message });
  if (formField !== undefined && body === "jwt") {
    add("formField", '"formField" is for services that post a form: leave it out');
  }
  if (maxBodyBytes > maxUnverifiedBytes && readsPayload(signature)) {
    const message = `The signature needs a member of the payload, which is read only up to ${maxUnverifiedBytes} bytes: write that or less`;
    add("maxBodyBytes", message);
  }
  const isClaims = signature.kind === "jwt" && isTokenInBody(signature);
  if ((body === "jwt") !== isClaims) {
    add("body", '"body: jwt" and a signature that is a token in the body go together');
  }
  const text = "signs" in signature ? JSON.stringify(signature.signs) : "";
  if (/\{(?:form|sortedForm)\}/.test(text) && body !== "form") {
    add("body", '{form} in "signs" needs "body: form"');
  }
  return problems;
}

function templateProblems({ path, text, mode }: FileTemplate): readonly ValueProblem[] {
  try {
    template(text, mode);
    return [];
  } catch (error) {
    return [{ path, message: errorMessage(error) }];
  }
}

function eventTemplateProblems(each: FileTemplate, file: ProviderFile): readonly ValueProblem[] {
  const problems = templateProblems(each);
  if (problems.length > 0) return problems;
  const { places } = template(each.text, each.mode);
  return places.flatMap((place) => readProblems(each.path, place, file));
}

/** Events can be read again from their bodies and headers, so they have no URL. They must not hold secrets. */
function readProblems(
  path: ValueProblem["path"],
  place: string,
  { signature, each }: ProviderFile,
): readonly ValueProblem[] {
  if (place.startsWith(deliveryPrefix) && each === undefined) {
    const pointer = place.slice(deliveryPrefix.length - 1);
    return [{ path, message: `{${place}} is only for files with "each": write {${pointer}}` }];
  }
  if (place.startsWith("query.")) {
    return [{ path, message: `{${place}} is only for handshakes: events have no URL` }];
  }
  // Another member of the body that proves the origin is a signature, which the body shows anyway, or the name of an account.
  const isShown = headerIn(place) === null && signature.kind !== "shared-secret";
  if (!isShown && secretPlacesOf(signature).includes(place.replace(/^delivery/, ""))) {
    return [
      { path, message: `{${place}} holds the signature or the secret, which no event may show` },
    ];
  }
  return [];
}

function placeProblems(file: ProviderFile): readonly ValueProblem[] {
  const { deliveryId, occurredAt, severity, events, own = [] } = file;
  const ofEvents = Object.entries(events).map(([name, fields]) => ({
    path: ["events", name],
    fields,
  }));
  const named = [
    ...oneOrMore(deliveryId).map((place) => ({ path: ["deliveryId"], place })),
    ...own.flatMap((wanted) => Object.keys(wanted).map((place) => ({ path: ["own"], place }))),
    ...[{ path: [], fields: { occurredAt, severity } }, ...ofEvents].flatMap(({ path, fields }) => [
      ...oneOrMore(fields.occurredAt).map((place) => ({ path: [...path, "occurredAt"], place })),
      ...(typeof fields.severity === "object"
        ? [{ path: [...path, "severity"], place: fields.severity.from }]
        : []),
    ]),
  ];
  return named.flatMap(({ path, place }) => readProblems(path, place, file));
}

/** Each item is an event of its own, so its id must be in it. */
function itemProblems({
  each,
  body,
  formField,
  payment,
  deliveryId,
}: ProviderFile): readonly ValueProblem[] {
  if (each === undefined) return [];
  const problems: ValueProblem[] = [];
  const add = (name: string, message: string) => problems.push({ path: [name], message });
  for (const pointer of oneOrMore(each)) {
    if (!/^(?:$|\/.)/.test(pointer)) {
      add("each", `"${pointer}" is no JSON pointer: write "/${pointer.replace(/^\/+/, "")}"`);
    } else if (pointer.endsWith("/*")) {
      add("each", `"${pointer}" names the entries: write "${pointer.slice(0, -2)}", their array`);
    }
  }
  if (body === "form" && formField === undefined)
    add("each", "The fields of a form are texts, not items: leave each out");
  if (payment !== undefined) {
    add("payment", '"payment" reads the whole payload, so it cannot be used with "each"');
  }
  for (const place of oneOrMore(deliveryId)) {
    if (!place.startsWith("/")) {
      const message = `${place} is the same for all items: write a JSON pointer to the id in the item, or leave deliveryId out`;
      add("deliveryId", message);
    }
  }
  return problems;
}

function retryProblems({ retryChanges, signature }: ProviderFile): readonly ValueProblem[] {
  const times = timePlacesOf(signature);
  return oneOrMore(retryChanges)
    .filter((place) => !/^(?:delivery)?\//.test(place) && !times.includes(place))
    .map((place) => {
      const known = times.length === 0 ? "" : `, or ${times.join(" or ")}, the signed time`;
      const message = `"${place}" is not part of what identifies an event: write a JSON pointer${known}`;
      return { path: ["retryChanges"], message };
    });
}

function paymentProblems(file: ProviderFile): readonly ValueProblem[] {
  const { payment, events } = file;
  if (payment === undefined) return [];
  const { amount, id, refund } = payment;
  return Object.entries(payment.kinds).flatMap(([name, kind]): readonly ValueProblem[] => {
    const at = (message: string) => [{ path: ["payment", "kinds", name], message }];
    const event = Object.hasOwn(events, name) ? events[name] : undefined;
    if (event === undefined) return at(`"${name}" is none of "events": list it there too`);
    if (event.notify === false) return at(`Leave "notify" out of "${name}": payments notify`);
    if ((event.bookingReference ?? file.bookingReference) === undefined) {
      return at(`Write "bookingReference": where "${name}" has the id or reference of the booking`);
    }
    if (typeof amount === "object" && amount[kind] === undefined) {
      return at(`Write "${kind}" in "amount": where "${name}" has the amount`);
    }
    if (kind === "refund_failed" && refund === undefined) {
      return at(`Write "refund": where "${name}" has the id of the refund that failed`);
    }
    if (typeof id === "object" && id[kind] === undefined) {
      return at(`Write "${kind}" in "id": where "${name}" has the id of the payment`);
    }
    return [];
  });
}

function handshakeProblems({ handshakes = [], signature }: ProviderFile): readonly ValueProblem[] {
  const hasSecret = signature.kind === "hmac" || signature.kind === "shared-secret";
  return handshakes.flatMap((handshake, index) => {
    const problems: ValueProblem[] = [];
    const add = (name: string, message: string) =>
      problems.push({ path: ["handshakes", index, name], message });
    const { method = "POST", when } = handshake;
    if (when === undefined && method !== "HEAD") {
      add("when", `Write "when": every ${method} would be a handshake`);
    }
    for (const place of Object.keys(when ?? {})) {
      if (method !== "POST" && place.startsWith("/")) {
        add("when", `A ${method} has no body, so it cannot have ${place}`);
      }
    }
    const { answer, adoptSecret, confirm, verified = true, stored = false } = handshake;
    if (stored && (method !== "POST" || !verified || adoptSecret !== undefined || confirm)) {
      add("stored", "Only a POST that verifies is an event: leave stored out");
    }
    if (answer.json !== undefined && answer.text !== undefined) {
      add("answer", 'Write either "json" or "text"');
    }
    if (adoptSecret !== undefined && verified) {
      add("adoptSecret", "A secret that is not known yet cannot verify: write verified: false");
    }
    if (adoptSecret !== undefined && !hasSecret) {
      add("adoptSecret", "Only the secret of an HMAC or a shared secret can be sent");
    }
    if (confirm !== undefined && !verified) {
      add("confirm", "A URL is fetched only if the request verifies: leave verified out");
    }
    const signs = signsAnswer(handshake);
    const isOfBody = signature.kind === "hmac" && signature.signs === "{body}";
    if (signs && !verified && !(method === "GET" && isOfBody)) {
      // A challenge could be what another scheme signs, such as a time and a token.
      add(
        "answer",
        "Only a request that verifies gets an HMAC: leave verified out. An unsigned GET gets one if the service signs exactly {body}",
      );
    }
    if (signs && !hasSecret) {
      add("answer", "The filters hmacSha256Hex and hmacSha256Base64 need a shared secret");
    }
    return problems;
  });
}
