import { type Command, Option } from "commander";

import { systemClock } from "../../base/clock.ts";
import { type Role, roles } from "../../base/context.ts";
import { parseDuration } from "../../base/times.ts";
import { readConfig } from "../../config/config.ts";
import { tokenKey } from "../../config/secrets.ts";
import { tokens } from "../../identity/auth/token.ts";
import { users } from "../../identity/users/users.ts";
import { argument, example } from "../kit/arguments.ts";
import { isInMemory, useAnyDatabase } from "../kit/database.ts";
import { note, UsageError } from "../kit/output.ts";
import { hasSigningKey } from "../kit/signing-key.ts";

interface TokenOptions {
  readonly email: string;
  readonly name?: string;
  readonly role: Role;
  /** Seconds. */
  readonly ttl: number;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("token")
    .description("print an access token for a user; creates the user if the e-mail is new")
    .option("--email <email>", "the user's e-mail address (required)")
    .option("--name <name>", "name of a new user; default: the e-mail address up to the @")
    .addOption(new Option("--role <role>", "role of the token").choices(roles).default("user"))
    .addOption(
      new Option("--ttl <duration>", "lifetime: 30s, 15m, 1h, 7d; at most 365d")
        .argParser(argument(parseDuration))
        .default(parseDuration("1h"), "1h"),
    )
    .addHelpText("after", example("TOKEN=$(skyhook token --email ada@example.com --role operator)"))
    .action(({ email, ...options }: Omit<TokenOptions, "email"> & { readonly email?: string }) => {
      if (email === undefined) throw new UsageError("Write the user's e-mail address: --email");
      return token({ email, ...options }, env);
    });
  command
    .command("explain")
    .description("say why the server accepts or refuses a token, without printing it")
    .argument("[token]", "default: standard input, which no shell history keeps")
    .addHelpText("after", example('echo "$TOKEN" | skyhook token explain'))
    .action(async (given?: string) => {
      const { explain } = await import("./token-explain.ts");
      await explain(given, env);
    });
  command
    .command("revoke")
    .description("end a token, or all access of a user or client; servers follow within 5 seconds")
    .argument("[token]", "default: standard input, which no shell history keeps")
    .option("--subject <subject>", "a user's e-mail address, or the id of a user or client")
    .addHelpText(
      "after",
      example(
        'echo "$TOKEN" | skyhook token revoke',
        "skyhook token revoke --subject ada@example.com",
      ),
    )
    .action(async (given: string | undefined, options: { readonly subject?: string }) => {
      const { revoke } = await import("./token-revoke.ts");
      await revoke(given, options, env);
    });
}

/**
 * `skyhook token`: prints only an access token on standard output, so that a shell can capture it, and
 * everything else on standard error.
 */
export async function token(
  { email, name, role, ttl }: TokenOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const { user, isNew } = await useAnyDatabase(config, (storage) =>
    users(storage, systemClock).ensureUser({
      email: email.trim(),
      name: name?.trim() ?? email.trim().replace(/@.*/, ""),
    }),
  );
  const isNewKey = !hasSigningKey(config);
  const key = tokenKey(config.jwtSecret, config.dataDir);
  const { jwtIssuer: issuer, jwtAudience: audience } = config;
  const actor = { id: user.id, roles: [role] };
  const minted = await tokens({ key, issuer, audience }, systemClock).mint(actor, ttl);

  if (isInMemory(config)) {
    note(`user ${user.id} is not stored, since the database is in memory; the token is valid`);
  } else {
    note(`${isNew ? "created" : "found"} user ${user.id} ${user.email} (${user.name})`);
  }
  if (isNewKey) {
    note(
      `created a signing key in ${config.dataDir}: a server with another DATA_DIR or JWT_SECRET rejects this token`,
    );
  }
  if (!isNew && name !== undefined && name.trim() !== user.name) {
    note("--name is ignored: the user exists and keeps its name");
  }
  const end = new Date(systemClock.now() + ttl * 1_000).toISOString();
  note(`role ${role}, valid until ${end}`);
  console.log(minted);
}
