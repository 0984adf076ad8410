import { UsageError } from "../kit/output.ts";
import { readToken } from "../kit/secret-input.ts";
import { withRevocations } from "../kit/services.ts";

/** `skyhook token revoke`: works on the database. A server that uses it follows within 5 seconds. */
export async function revoke(
  given: string | undefined,
  { subject }: { readonly subject?: string },
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (subject !== undefined) {
    if (given !== undefined) throw new UsageError("Write a token or --subject, not both");
    const { subjects, ended } = await withRevocations(env, (service, ctx) =>
      service.subject(ctx, { subject }),
    );
    console.log(
      `revoked every token of ${subjects.join(", ")} until now; ended sessions: ${ended}`,
    );
    return;
  }
  const token = await readToken(given);
  const wasValid = await withRevocations(env, (service) => service.token(token, ""));
  if (!wasValid)
    throw new Error("The token is not valid: it is unknown, expired or already revoked");
  console.log("revoked");
}
