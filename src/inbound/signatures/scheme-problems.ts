import { errorMessage } from "../../base/errors.ts";
import { oneOrMore, pointerKeys } from "../../base/place.ts";

import type { JwtScheme, KeySource, TextScheme } from "./scheme.schema.ts";
import {
  coversBody,
  headerIn,
  isSymmetric,
  isTextScheme,
  isTokenInBody,
  signaturePlaces,
  type SignatureScheme,
  signedPlaces,
  signedTemplates,
} from "./scheme.ts";
import { isSignedName, signedNames, templateParts } from "./signed-text.ts";

/** What is wrong with a scheme that its schema cannot express, and what to write instead. */
interface SchemeProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** The problems of a scheme whose types and words are right. Empty if the engine can verify with it. */
export function schemeProblems(scheme: SignatureScheme): readonly SchemeProblem[] {
  if (isTextScheme(scheme)) return [...textProblems(scheme), ...keyProblems(scheme)];
  return scheme.kind === "jwt" ? [...tokenProblems(scheme), ...keyProblems(scheme)] : [];
}

function textProblems(scheme: TextScheme): readonly SchemeProblem[] {
  const { timestamp, items, prefix } = scheme;
  const problems: SchemeProblem[] = [...templateProblems(scheme)];
  const add = (path: readonly string[], message: string) => problems.push({ path, message });
  const isSigned = (name: string) =>
    signedTemplates(scheme).some((text) => text.includes(`{${name}}`));
  if (items !== undefined && prefix !== undefined) {
    add(["prefix"], '"prefix" and "items" exclude each other: write the prefix in items.signature');
  }
  if (items === undefined && prefix?.includes(",") === true) {
    const message =
      'A comma separates repeated headers: write "items" with the text before the signature';
    add(["prefix"], message);
  }
  if (isSigned("timestamp") && timestamp === undefined) {
    add(["signs"], '{timestamp} needs "timestamp", which says where the time is');
  }
  if (isSigned("id") && scheme.id === undefined) add(["signs"], '{id} needs "id", its place');
  if (scheme.id !== undefined && !isSigned("id")) add(["id"], '"id" is only for {id} in "signs"');
  if (timestamp !== undefined) problems.push(...timeProblems(scheme, timestamp));
  const isInBody = signaturePlaces(scheme).some(
    (place) => headerIn(place) === null && !place.startsWith("query."),
  );
  if (isInBody && coversBody(scheme)) {
    add(
      ["signs"],
      "A signature in the body cannot cover the whole body: name the members that it covers",
    );
  }
  if (!coversBody(scheme) && signedPlaces(scheme).length === 0) {
    add(
      ["signs"],
      "It covers nothing of the delivery: write at least {body}, or the places that are signed",
    );
  }
  return problems;
}

function templateProblems(scheme: TextScheme): readonly SchemeProblem[] {
  return signedTemplates(scheme).flatMap((template) => {
    try {
      return templateParts(template).flatMap((part) => {
        if ("text" in part || isSignedName(part.name) || isPlace(part.name)) return [];
        const message = `{${part.name}} is no value: write ${signedNames.map((name) => `{${name}}`).join(", ")}, or a place such as {header.x-id} or {/token}`;
        return [{ path: ["signs"], message }];
      });
    } catch (error) {
      return [{ path: ["signs"], message: errorMessage(error) }];
    }
  });
}

function isPlace(name: string): boolean {
  return /^(?:header\.[a-z0-9][a-z0-9_-]*|query\.[A-Za-z0-9][\w.-]*|\/.+)$/.test(name);
}

function timeProblems(
  scheme: TextScheme,
  { from, item }: NonNullable<TextScheme["timestamp"]>,
): readonly SchemeProblem[] {
  const path = ["timestamp"];
  if ((from === undefined) === (item === undefined)) {
    return [{ path, message: 'Write either "from" or "item"' }];
  }
  if (item !== undefined && scheme.items === undefined) {
    return [{ path, message: '"item" needs "items", which says how the header is split' }];
  }
  const isNamed = signedTemplates(scheme).some((text) => text.includes("{timestamp}"));
  const isCovered = oneOrMore(from).some((place) => isSignedPlace(scheme, place));
  if (isNamed || isCovered) return [];
  return [
    { path, message: 'The time is not signed: name {timestamp} in "signs", or leave it out' },
  ];
}

function isSignedPlace(scheme: TextScheme, place: string): boolean {
  return signedPlaces(scheme).includes(place) || (place.startsWith("/") && coversBody(scheme));
}

function tokenProblems(scheme: JwtScheme): readonly SchemeProblem[] {
  const problems: SchemeProblem[] = [];
  const { algorithms, bodyHash, key } = scheme;
  const families = new Set(algorithms.map((algorithm) => algorithm.replace(/\d+$/, "")));
  if (families.has("PS")) families.add("RS").delete("PS");
  if (families.size > 1) {
    const message = "All algorithms must use the same kind of key";
    problems.push({ path: ["algorithms"], message });
  }
  if (isSymmetric(scheme) && key !== undefined) {
    problems.push({ path: ["key"], message: "A published key cannot verify HS algorithms" });
  }
  if (!isTokenInBody(scheme) && bodyHash === undefined) {
    const message =
      'A token outside the body does not cover the body without it: name its claim, or write "none" if the service has none';
    problems.push({ path: ["bodyHash"], message });
  }
  if (isTokenInBody(scheme) && bodyHash === "none") {
    problems.push({ path: ["bodyHash"], message: "The body is the token: leave it out" });
  }
  return problems;
}

function keyProblems(scheme: TextScheme | JwtScheme): readonly SchemeProblem[] {
  const key = "key" in scheme ? scheme.key : undefined;
  const account = "secretAt" in scheme ? scheme.secretAt : undefined;
  if (key === undefined) {
    return account === undefined
      ? []
      : [{ path: ["secretAt"], message: '"secretAt" is only for keys that the service publishes' }];
  }
  return [...sourceProblems(key), ...accountProblems(scheme, key)];
}

function sourceProblems({
  url,
  from,
  hosts,
  path,
  format,
  at,
  expiresAt,
}: KeySource): readonly SchemeProblem[] {
  const problems: SchemeProblem[] = [];
  const add = (name: string, message: string) => problems.push({ path: ["key", name], message });
  if ((url === undefined) === (from === undefined)) add("url", 'Write either "url" or "from"');
  if (from !== undefined && hosts === undefined) {
    add("hosts", "Name the hosts that keys may be fetched from: anyone can send any URL");
  }
  if (path !== undefined && from === undefined) add("path", '"path" is only for "from"');
  if (hosts?.some((host) => host.split(".").slice(-2).includes("*")) === true) {
    add("hosts", "The last two labels of a host must be fixed");
  }
  if (
    url !== undefined &&
    !/^https:|^http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::|\/)/.test(url)
  ) {
    add("url", "Plain http is only for this machine: write https");
  }
  if (at !== undefined && !(at.startsWith("/") && pointerKeys(at).length > 0)) {
    add("at", "Write a JSON pointer, such as /key");
  }
  if (expiresAt !== undefined && !expiresAt.startsWith("/")) {
    add("expiresAt", "Write a JSON pointer, such as /key/expired_at");
  }
  if (expiresAt !== undefined && at === undefined && format !== "jwk") {
    add("expiresAt", '"expiresAt" is only for one key in a JSON response');
  }
  if (format === "jwks" && at !== undefined) add("at", "A key set has its keys in /keys");
  return problems;
}

/** Every account of the service has the same key, so something must say whose the request is. */
function accountProblems(
  scheme: TextScheme | JwtScheme,
  { post }: KeySource,
): readonly SchemeProblem[] {
  const isInText = isTextScheme(scheme)
    ? signedTemplates(scheme).some((text) => text.includes("{secret}"))
    : [scheme.audience, ...Object.values(scheme.claims ?? {})].includes("{secret}");
  const isInPost = Object.values(post ?? {}).some((text) => /\{(?:user|password)\}/.test(text));
  const isAccount = "secretAt" in scheme && scheme.secretAt !== undefined;
  if (isInText || isInPost || isAccount) return [];
  const message =
    'The key is that of all accounts of the service: bind deliveries to yours by "secretAt", {secret} in "signs", audience, claims or post';
  return [{ path: ["key"], message }];
}
