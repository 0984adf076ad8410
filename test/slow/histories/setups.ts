import { type DatabaseKind, databases } from "../harness/databases.ts";

/** What a history is recorded on. */
export interface Setup {
  readonly name: string;
  readonly kind: DatabaseKind;
  readonly instances: number;
}

/** All that can run on this machine. */
export const setups = (): readonly Setup[] =>
  databases().flatMap((kind) =>
    (kind.isServer ? [1, 2] : [1]).map((instances) => ({
      name: instances === 1 ? kind.name : `${kind.name}, ${instances} instances`,
      kind,
      instances,
    })),
  );
