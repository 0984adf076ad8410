import { eq } from "drizzle-orm";

import { statementsOver } from "../../db/statement.ts";

import { rejectionsTable } from "./rejection.ts";

const statement = statementsOver({ rejections: rejectionsTable });

/** Any rejection of a provider. */
export const rejectionOf = statement<{ provider: string }>()((db, { rejections }, p) =>
  db
    .select({ id: rejections.id })
    .from(rejections)
    .where(eq(rejections.provider, p.provider))
    .limit(1),
);
