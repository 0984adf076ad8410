import { type Role, roles } from "../../base/context.ts";

/**
 * The roles in a claim: a list of texts, or one text with commas between them or, if it has none, spaces: a group
 * `Sales admin` in `Sales admin,Helpdesk` is not the role admin. `name` is the claim's
 * name or, for nested claims, a path with dots: `realm_access.roles`. Unknown values are ignored.
 */
export function rolesIn(claims: Readonly<Record<string, unknown>>, name: string): readonly Role[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name.split("."));
  const granted: readonly unknown[] = typeof value === "string" ? listed(value) : listOf(value);
  return roles.filter((role) => granted.includes(role));
}

function listed(text: string): readonly string[] {
  return text.includes(",") ? text.split(",").map((each) => each.trim()) : text.split(/\s+/);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  return valueAt(fields[name], rest);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
