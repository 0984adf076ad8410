import { answerAttacks } from "./attacks/answers.ts";
import type { Attack } from "./attacks/attack.ts";
import { bodyAttacks } from "./attacks/bodies.ts";
import { cacheAttacks } from "./attacks/caches.ts";
import { framingAttacks } from "./attacks/framings.ts";
import { graphqlAttacks } from "./attacks/graphql.ts";
import { logAttacks } from "./attacks/logs.ts";
import { pageAttacks } from "./attacks/pages.ts";
import { pipeliningAttacks } from "./attacks/pipelining.ts";
import { providerAttacks } from "./attacks/providers.ts";
import { signedInAttacks } from "./attacks/signed-in.ts";
import { socketAttacks } from "./attacks/sockets.ts";
import { strangerAttacks } from "./attacks/strangers.ts";
import { textAttacks } from "./attacks/texts.ts";

/** All of them; `bun run fuzz --help` lists them. */
export const attacks: readonly Attack[] = [
  ...graphqlAttacks,
  ...framingAttacks,
  ...socketAttacks,
  ...cacheAttacks,
  ...textAttacks,
  ...bodyAttacks,
  ...pageAttacks,
  ...answerAttacks,
  ...providerAttacks,
  ...pipeliningAttacks,
  ...logAttacks,
  ...signedInAttacks,
  ...strangerAttacks,
];
