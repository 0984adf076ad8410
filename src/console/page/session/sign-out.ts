import { attempt } from "../action.tsx";
import { callApi, sessionPath } from "../api.ts";

import { signOut } from "./session.ts";

/** Ends the session on the server and in this browser. */
export function leave(): void {
  void attempt("Signing out", async () => {
    await callApi(sessionPath, { method: "DELETE" });
    signOut("signed-out");
  });
}
