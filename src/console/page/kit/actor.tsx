import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useMemo, useRef } from "preact/hooks";

import {
  commandPrefix,
  consolePrefix,
  openIdPrefix,
  unnamedConsole,
} from "../../../base/context.ts";

import { useInterval } from "./live.ts";
import { useLoad } from "./load.ts";
import { writeRoute } from "./route.ts";
import { isAdmin } from "./session.ts";
import { type Of, Text, words } from "./text.tsx";
import { Time } from "./time.tsx";
import type { AuditItem, Page } from "./wire.ts";

/** Splits an actor's id into a name and its source. */
function partsOf(id: string): readonly [name: string, source: string | null] {
  if (id.startsWith(consolePrefix)) {
    return [id.slice(consolePrefix.length).replace(/^(?:operator|admin):/, ""), "by link"];
  }
  if (id.startsWith(openIdPrefix)) return [id.slice(openIdPrefix.length), "OpenID Connect"];
  if (id.startsWith(commandPrefix)) return [id.slice(commandPrefix.length), "command line"];
  if (isUserId(id)) return [`User ${id.slice(0, 8)}…`, null];
  return [systemActors.get(id) ?? id, null];
}

const systemActors: ReadonlyMap<string, string> = new Map([
  [unnamedConsole, "Sign-in link"],
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

/** Who did what an entry of the audit list says. */
export const DoneBy = ({ of: { actor, actorName, actorEmail } }: Of<AuditItem>) => (
  <Actor of={actor} name={actorName} email={actorEmail} />
);

/** The newest entries, which is all that most things have. */
const maxRead = 20;
const isMade = ({ action }: AuditItem) => /\.(?:created|added)$/.test(action);
const isChange = ({ action }: AuditItem) =>
  !/\.(?:created|added|started|tested|retried)$/.test(action);

interface HistoryParts extends Of<string> {
  /** Differs after a change of the thing. */
  readonly version?: string;
}

/**
 * `Created by Ada, 3d ago · Updated by Grace, 2h ago · History`, for admins: who made the thing with this id, and who
 * changed it last. Says nothing of what retention has deleted.
 */
export function History({ of: subject, version }: HistoryParts) {
  const query = new URLSearchParams({ subject });
  const path = `v1/audit?limit=${maxRead}&${query}`;
  const { value, reload } = useLoad<Page<AuditItem>>(isAdmin() ? path : null);
  const shown = useRef(version);
  useEffect(() => {
    if (shown.current !== version) reload();
    shown.current = version;
  }, [version]);
  const entries = value?.data ?? [];
  if (entries.length === 0) return null;
  return (
    <p class="under history">
      {[entries.find(isMade), entries.find(isChange)].map(
        (entry) =>
          entry && (
            <span key={entry.id}>
              {words(entry.action.split(".")[1] ?? "")} by <DoneBy of={entry} />,{" "}
              <Time at={entry.createdAt} />
            </span>
          ),
      )}
      <a href={writeRoute("audit", null, query)}>History</a>
    </p>
  );
}

const makersPollMs = 15_000;
const Makers = createContext<ReadonlyMap<string, AuditItem>>(new Map());

interface MakersParts {
  /** The action that makes such things. */
  readonly by: AuditItem["action"];
  readonly children: ComponentChildren;
}

/** Lets `Maker` name who made each of many things, with one request. */
export function MakersOf({ by: action, children }: MakersParts) {
  const { value, reload } = useLoad<Page<AuditItem>>(
    isAdmin() ? `v1/audit?action=${action}&limit=100` : null,
  );
  useInterval(reload, makersPollMs);
  const makers = useMemo(
    () => new Map(value?.data.map((entry) => [entry.subject, entry])),
    [value],
  );
  return <Makers.Provider value={makers}>{children}</Makers.Provider>;
}

/** Who made the thing with this id. */
export function Maker({ of: id }: Of<string>) {
  const entry = useContext(Makers).get(id);
  return entry === undefined ? null : <DoneBy of={entry} />;
}
