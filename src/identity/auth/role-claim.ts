import { type Role, roles } from "../../base/context.ts";
import { isObject } from "../../base/payload.ts";

/**
 * The roles in a claim: a list of texts, or one text, which is one role. A text is never split, because names of
 * groups contain spaces and commas: `Sales admin` is not the role admin. `name` is the claim's name or, for nested
 * claims, a path with dots: `realm_access.roles`. Unknown values are ignored. In an object, members with objects of texts are roles:
 * Zitadel names the organizations of each role. Those of Keycloak's `resource_access` are clients, with lists.
 */
export function rolesIn(claims: Readonly<Record<string, unknown>>, name: string): readonly Role[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name.split("."));
  const granted: readonly unknown[] = Array.isArray(value) ? value : [value, ...membersOf(value)];
  return roles.filter((role) => granted.includes(role));
}

function membersOf(value: unknown): readonly string[] {
  return isObject(value) ? Object.keys(value).filter((name) => namesOwners(value[name])) : [];
}

function namesOwners(value: unknown): boolean {
  const owners = isObject(value) ? Object.values(value) : [];
  return owners.length > 0 && owners.every((owner) => typeof owner === "string");
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  return isObject(value) && Object.hasOwn(value, name) ? valueAt(value[name], rest) : undefined;
}
