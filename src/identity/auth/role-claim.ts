import { type Role, roles } from "../../base/context.ts";

/**
 * The roles in a claim: a list of texts, or one text, which is one role. A text is never split, because names of
 * groups contain spaces and commas: `Sales admin` is not the role admin. `name` is the claim's name or, for nested
 * claims, a path with dots: `realm_access.roles`. Unknown values are ignored.
 */
export function rolesIn(claims: Readonly<Record<string, unknown>>, name: string): readonly Role[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name.split("."));
  const granted: readonly unknown[] = Array.isArray(value) ? value : [value];
  return roles.filter((role) => granted.includes(role));
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  return valueAt(fields[name], rest);
}
