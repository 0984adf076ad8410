import { expect, test } from "bun:test";

import type { Role } from "../../../src/base/context.ts";
import { rolesIn } from "../../../src/identity/auth/role-claim.ts";

test.each<readonly [string, Record<string, unknown>, readonly Role[]]>([
  ["roles", { roles: ["operator", "other"] }, ["operator"]],
  ["roles", { roles: "admin" }, ["admin"]],
  ["roles", { roles: "other operator" }, []],
  ["roles", { roles: "operator,admin" }, []],
  ["roles", { roles: "Sales admin" }, []],
  ["roles", { roles: ["Sales admin"] }, []],
  ["scope", { scope: "openid admin" }, []],
  ["roles", { roles: "Sales admin,Helpdesk operator" }, []],
  ["realm_access.roles", { realm_access: { roles: ["admin"] } }, ["admin"]],
  ["https://x.example/roles", { "https://x.example/roles": ["operator"] }, ["operator"]],
  ["roles", {}, []],
  ["roles", { roles: { admin: true, user: null, operator: ["x"] } }, []],
  ["roles", { roles: { operator: { "1": "acme.example" } } }, ["operator"]],
  // Clients of Keycloak can have any name.
  ["resource_access", { resource_access: { admin: { roles: ["view"] } } }, []],
  ["roles", { roles: { admin: {} } }, []],
  ["roles", { roles: ["Admin", "administrator", ["admin"], null, 1] }, []],
  ["roles", { roles: "nonadmin" }, []],
  ["__proto__.roles", { roles: ["admin"] }, []],
  ["constructor.name", { roles: ["admin"] }, []],
])("reads the claim %s of %j", (name, claims, roles) => {
  expect([...rolesIn(claims, name)]).toEqual([...roles]);
});
