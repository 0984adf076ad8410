import { closeSession } from "../api.ts";
import { toApiError } from "../load.ts";
import { notify } from "../ui.tsx";

import { signOut } from "./session.ts";

/** Ends the session on the server and in this browser. */
export function leave(): void {
  closeSession().then(
    () => signOut("signed-out"),
    (cause: unknown) => notify(`Signing out failed. ${toApiError(cause).message}`, "bad"),
  );
}
