import { Elysia } from "elysia";

import type { Callers } from "../web/rest/route.ts";

import { auditRest } from "./audit/audit.rest.ts";
import type { Audit } from "./audit/audit.ts";
import { authRest } from "./auth/auth.rest.ts";
import { oidcRest } from "./oidc/oidc.rest.ts";
import { revocationsRest } from "./sessions/revocations.rest.ts";
import { sessionsRest } from "./sessions/sessions.rest.ts";
import { usersRest } from "./users/users.rest.ts";
import type { Users } from "./users/users.ts";

type Parts = Parameters<typeof authRest>[0] &
  Parameters<typeof sessionsRest>[0] &
  Parameters<typeof revocationsRest>[0] &
  Parameters<typeof oidcRest>[0] &
  Parameters<typeof auditRest>[1] & { readonly users: Users; readonly audit: Audit };

export const identityRoutes = (parts: Parts, callers: Callers) =>
  new Elysia()
    .use(usersRest(parts.users, callers))
    .use(authRest(parts))
    .use(auditRest(parts.audit, parts, callers))
    .use(sessionsRest(parts))
    .use(revocationsRest(parts))
    .use(oidcRest(parts));
