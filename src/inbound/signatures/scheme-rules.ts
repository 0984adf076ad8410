import { errorMessage } from "../../base/errors.ts";
import { oneOrMore, pointerKeys } from "../../base/place.ts";
import { firstOnly, type Rules, rulesOfEach } from "../../base/value-problem.ts";

import type { JwtScheme, KeySource, TextScheme } from "./scheme.schema.ts";
import {
  coversBody,
  isSymmetric,
  isTextScheme,
  isTokenInBody,
  namesValue,
  signaturePlaces,
  type SignatureScheme,
  signedPlaces,
  signedTemplates,
} from "./scheme.ts";
import { isSignedName, signedNames, templateParts } from "./signed-text.ts";

/** What can be wrong with a scheme that its schema cannot express. If nothing is, the engine can verify with it. */
export function schemeRules(scheme: SignatureScheme): Rules {
  if (isTextScheme(scheme)) return { ...textRules(scheme), ...keyRules(scheme) };
  return scheme.kind === "jwt" ? { ...tokenRules(scheme), ...keyRules(scheme) } : {};
}

function textRules(scheme: TextScheme): Rules {
  const { timestamp, items, prefix, id } = scheme;
  const signsTime = namesValue(scheme, "timestamp");
  const signsId = namesValue(scheme, "id");
  const isInBody = signaturePlaces(scheme).some((place) => !/^(?:header|query)\./.test(place));
  const isCovered = coversBody(scheme);
  return {
    prefix: {
      '"prefix" and "items" exclude each other: write the prefix in items.signature':
        items !== undefined && prefix !== undefined,
      'A comma separates repeated headers: write "items" with the text before the signature':
        items === undefined && prefix?.includes(","),
    },
    signs: {
      ...rulesOfEach(signedTemplates(scheme), templateRules),
      '{timestamp} needs "timestamp", which says where the time is':
        signsTime && timestamp === undefined,
      '{id} needs "id", its place': signsId && id === undefined,
      "A signature in the body cannot cover the whole body: name the members that it covers":
        isInBody && isCovered,
      "It covers nothing of the delivery: write at least {body}, or the places that are signed":
        !isCovered && signedPlaces(scheme).length === 0,
    },
    id: { '"id" is only for {id} in "signs"': id !== undefined && !signsId },
    timestamp: timestamp && timeRules(scheme, timestamp),
  };
}

function templateRules(template: string): Rules {
  const known = signedNames.map((name) => `{${name}}`).join(", ");
  try {
    return rulesOfEach(templateParts(template), (part) =>
      "text" in part
        ? {}
        : {
            [`{${part.name}} is no value: write ${known}, or a place such as {header.x-id} or {/token}`]:
              !isSignedName(part.name) && !isPlace(part.name),
          },
    );
  } catch (error) {
    return { [errorMessage(error)]: true };
  }
}

function isPlace(name: string): boolean {
  return /^(?:header\.[a-z0-9][a-z0-9_-]*|query\.[A-Za-z0-9][\w.-]*|\/.+)$/.test(name);
}

function timeRules(scheme: TextScheme, time: NonNullable<TextScheme["timestamp"]>): Rules {
  const { from, item } = time;
  const signed = signedPlaces(scheme);
  const isInBody = (place: string) => place.startsWith("/") && coversBody(scheme);
  const isCovered = oneOrMore(from).some((place) => signed.includes(place) || isInBody(place));
  return firstOnly({
    'Write either "from" or "item"': (from === undefined) === (item === undefined),
    '"item" needs "items", which says how the header is split':
      item !== undefined && scheme.items === undefined,
    'The time is not signed: name {timestamp} in "signs", or leave it out':
      !namesValue(scheme, "timestamp") && !isCovered,
  });
}

function tokenRules(scheme: JwtScheme): Rules {
  const { algorithms, bodyHash } = scheme;
  const families = algorithms.map((name) => name.replace(/\d+$/, "").replace("PS", "RS"));
  const isBody = isTokenInBody(scheme);
  return {
    algorithms: { "All algorithms must use the same kind of key": new Set(families).size > 1 },
    bodyHash: {
      'A token outside the body does not cover the body without it: name its claim, or write "none" if the service has none':
        !isBody && bodyHash === undefined,
      "The body is the token: leave it out": isBody && bodyHash === "none",
    },
  };
}

function keyRules(scheme: TextScheme | JwtScheme): Rules {
  const key = "key" in scheme ? scheme.key : undefined;
  const hasAccount = "secretAt" in scheme && scheme.secretAt !== undefined;
  if (key === undefined) {
    return {
      secretAt: { '"secretAt" is only for keys that the service publishes': hasAccount },
    };
  }
  const isSecretNamed = isTextScheme(scheme)
    ? namesValue(scheme, "secret")
    : [scheme.audience, ...Object.values(scheme.claims ?? {})].includes("{secret}");
  const isPosted = Object.values(key.post ?? {}).some((text) => /\{(?:user|password)\}/.test(text));
  return {
    key: {
      "A published key cannot verify HS algorithms": scheme.kind === "jwt" && isSymmetric(scheme),
      ...sourceRules(key),
      // Every account of the service has the same key, so something must say whose the request is.
      'The key is that of all accounts of the service: bind deliveries to yours by "secretAt", {secret} in "signs", audience, claims or post':
        !isSecretNamed && !isPosted && !hasAccount,
    },
  };
}

function sourceRules({ url, from, hosts, path, format, at, expiresAt }: KeySource): Rules {
  const safe = /^https:|^http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::|\/)/;
  return {
    url: {
      'Write either "url" or "from"': (url === undefined) === (from === undefined),
      "Plain http is only for this machine: write https": url !== undefined && !safe.test(url),
    },
    hosts: {
      "Name the hosts that keys may be fetched from: anyone can send any URL":
        from !== undefined && hosts === undefined,
      "The last two labels of a host must be fixed": hosts?.some((host) =>
        host.split(".").slice(-2).includes("*"),
      ),
    },
    path: { '"path" is only for "from"': path !== undefined && from === undefined },
    at: {
      "Write a JSON pointer, such as /key":
        at !== undefined && !(at.startsWith("/") && pointerKeys(at).length > 0),
      "A key set has its keys in /keys": format === "jwks" && at !== undefined,
    },
    expiresAt: {
      "Write a JSON pointer, such as /key/expired_at":
        expiresAt !== undefined && !expiresAt.startsWith("/"),
      '"expiresAt" is only for one key in a JSON response':
        expiresAt !== undefined && at === undefined && format !== "jwk",
    },
  };
}
