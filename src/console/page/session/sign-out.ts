import { attempt } from "../action.tsx";
import { closeSession } from "../api.ts";

import { signOut } from "./session.ts";

/** Ends the session on the server and in this browser. */
export function leave(): void {
  void attempt("Signing out", async () => {
    await closeSession();
    signOut("signed-out");
  });
}
