import { anyTime, idOf, type JsonObject, printable, webUrl } from "../../../base/payload.ts";
import { condition, exactText, lookup, oneOrMore, type PlaceSource } from "../../../base/place.ts";
import { type Template, template, type TemplateContext } from "../../../base/template.ts";
import type { EventData } from "../../../event/event.ts";
import type { Severity } from "../../../event/new-notification.ts";
import { coversOnlyForm, coversPlace, timePlacesOf } from "../../signatures/scheme.ts";
import { ignoredTitle, presentOf, typeName } from "../event-fields.ts";
import { isOpaque } from "../interpret.ts";
import type { Interpretation, VerifiedRequest } from "../provider.ts";

import type { EventFields, ProviderFile } from "./provider-file.schema.ts";

const maxSubjectLength = 300;
/** A name is compared with those of the file, so it needs no more than they can have. */
const maxNameLength = 100;

/** The compiled fields of an event. */
interface Description {
  readonly title: Template | null;
  readonly text: Template | null;
  readonly url: Template | null;
  readonly actor: Template | null;
  readonly subject: Template | null;
  readonly occurredAt: readonly string[];
  readonly severity: SeverityOf;
  readonly data: ReadonlyMap<string, Template>;
}
type SeverityOf = (source: PlaceSource) => Severity;

interface Listed extends Description {
  /** Skyhook's name of the event; null: as the service calls it. */
  readonly type: string | null;
  /** Whether operators are notified. */
  readonly notifies: boolean;
}

/** Converts verified payloads into events as a file says. Pure. Never throws, whatever the payload contains. */
export function describer(file: ProviderFile): (request: VerifiedRequest) => Interpretation {
  const nameOf = template(file.event);
  const ids = oneOrMore(file.deliveryId).map(lookup);
  const other = compiled(file, {});
  const listed = new Map(
    Object.entries(file.events).map(([name, event]): [string, Listed] => [
      name,
      { ...compiled(file, event), type: event.type ?? null, notifies: event.notify ?? true },
    ]),
  );
  const own = (file.own ?? []).map(condition);
  const isUnsigned = !isNameSigned(file);
  const { decimals = {} } = file;
  const hasText = isOpaque(file.payload);
  return ({ payload, delivery = payload, header, query = "" }) => {
    const source = {
      headers: { get: header },
      url: `?${query}`,
      payload: () => payload,
      delivery: () => delivery,
    };
    const unnamed = { source, event: "", type: "", decimals };
    const name = nameOf.render(unnamed).text.slice(0, maxNameLength);
    const entry = listed.get(name) ?? listed.get("*");
    const type = entry?.type ?? typeName(name);
    const context = { source, event: name, type, decimals };
    const deliveryId = firstOf(ids, source, (value) => idOf(exactText(value)));
    const described = describe(entry ?? other, context, deliveryId);
    const isListed = entry !== undefined;
    const notifies = entry?.notifies === true && !own.some((matches) => matches(source));
    return {
      status: notifies ? "accepted" : "ignored",
      type,
      deliveryId,
      ...described,
      ...(hasText && { data: withText(payload, described.data) }),
      ...(isUnsigned && { unsignedName: isListed ? name : "" }),
      ...(!isListed && { title: ignoredTitle(type, described.subject) }),
    };
  };
}

/**
 * Whether requests that the signature cannot tell apart have the same name. The fields of a form can be split
 * into others with the same signed text.
 */
function isNameSigned({ event, signature, retryChanges }: ProviderFile): boolean {
  const times = timePlacesOf(signature);
  // What else is signed does not count in the identity without the time.
  const isTimeless = oneOrMore(retryChanges).some((place) => times.includes(place));
  return template(event).places.every((place) =>
    /^(?:header|query)\./.test(place)
      ? !isTimeless && coversPlace(signature, place)
      : !coversOnlyForm(signature),
  );
}

function compiled(file: ProviderFile, event: EventFields): Description {
  const fields = { ...file, ...event };
  const line = (text: string | undefined) => (text === undefined ? null : template(text));
  return {
    title: line(fields.title),
    text: line(fields.text),
    url: fields.url === undefined ? null : template(fields.url, "url"),
    actor: line(fields.actor),
    subject: line(fields.subject),
    occurredAt: oneOrMore(fields.occurredAt),
    severity: severityOf(fields.severity),
    data: new Map(
      Object.entries({ ...file.data, ...event.data }).map(([name, text]) => [name, template(text)]),
    ),
  };
}

function severityOf(severity: EventFields["severity"]): SeverityOf {
  if (severity === undefined) return () => "info";
  if (typeof severity === "string") return () => severity;
  const find = lookup(severity.from);
  const levels = new Map(Object.entries(severity.is));
  return (source) => levels.get(exactText(find(source)) ?? "") ?? severity.otherwise;
}

function describe(
  description: Description,
  context: TemplateContext,
  deliveryId: string | null,
): Omit<Interpretation, "status" | "type" | "deliveryId"> {
  const { source, type } = context;
  const fallback = deliveryId === null ? type : `${type} ${deliveryId}`;
  const url = whole(description.url, context);
  const subject = whole(description.subject, context);
  return {
    occurredAt: firstOf(description.occurredAt.map(lookup), source, anyTime),
    subject: subject === null ? null : printable(subject, maxSubjectLength),
    title: sentence(description.title, context) ?? fallback,
    url: url === null ? null : webUrl(url),
    actor: line(description.actor, context),
    data: fieldsOf(description, context),
    notice: { severity: description.severity(source), text: sentence(description.text, context) },
  };
}

/** The text, with what is missing left out; null if nothing is left. */
function line(compiled: Template | null, context: TemplateContext): string | null {
  return compiled === null ? null : printable(compiled.render(context).text);
}

/** The text without the dots that would have separated what is missing. */
function sentence(compiled: Template | null, context: TemplateContext): string | null {
  const text = line(compiled, context)?.replaceAll(/^[\s·]+|[\s·]+$/g, "") ?? "";
  return text === "" ? null : text;
}

/** The text only if all of its values are there: half of a link or of an id is wrong. */
function whole(compiled: Template | null, context: TemplateContext): string | null {
  const rendered = compiled?.render(context);
  return rendered?.isWhole === true && rendered.text !== "" ? rendered.text : null;
}

function fieldsOf(description: Description, context: TemplateContext): EventData {
  const fields = [...description.data].map(
    ([name, compiled]) => [name, line(compiled, context)] as const,
  );
  return presentOf(Object.fromEntries(fields));
}

/** The start of a body that is not parsed makes its event searchable, unless the file has a field of the name. */
function withText({ text }: JsonObject, data: EventData): EventData {
  return presentOf({ text: typeof text === "string" ? printable(text) : null, ...data });
}

function firstOf<Value>(
  finds: readonly ((source: PlaceSource) => unknown)[],
  source: PlaceSource,
  read: (value: unknown) => Value | null,
): Value | null {
  for (const find of finds) {
    const value = read(find(source));
    if (value !== null) return value;
  }
  return null;
}
