import { consolePrefix, openIdPrefix } from "../../../base/context.ts";

import { type Of, Text } from "./text.tsx";

/** Splits an actor's id into a name and its source. */
function partsOf(id: string): readonly [name: string, source: string | null] {
  if (id.startsWith(consolePrefix)) return [id.slice(consolePrefix.length), "by link"];
  if (id.startsWith(openIdPrefix)) return [id.slice(openIdPrefix.length), "OpenID Connect"];
  return [systemActors.get(id) ?? id, null];
}

const systemActors: ReadonlyMap<string, string> = new Map([
  ["skyhook-console", "Sign-in link"],
  ["skyhook-cli", "Command line"],
]);

/** Users have a UUID, which is not worth showing. */
const isUserId = (id: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-/.test(id);

/** `Ada (admin)`; only `admin` where the name is not known. */
export function signedInAs(id: string, roles: readonly string[]): string {
  const role = roles.at(-1) ?? "operator";
  return isUserId(id) || systemActors.has(id) ? role : `${partsOf(id)[0]} (${role})`;
}

interface Parts extends Of<string> {
  /** The user's, where they are known. */
  readonly name?: string | null;
  readonly email?: string | null;
}

/** An actor's name and its source: two actors can have the same name. */
export function Actor({ of: id, name = null, email = null }: Parts) {
  const [shown, source] = name === null ? partsOf(id) : [name, email];
  return (
    <span title={id}>
      <Text of={shown} />
      {source !== null && (
        <span class="quiet">
          {" "}
          <Text of={source} />
        </span>
      )}
    </span>
  );
}
