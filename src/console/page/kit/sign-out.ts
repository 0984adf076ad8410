import { attempt } from "./action.tsx";
import { callApi, sessionPath } from "./api.ts";
import { leaveBy } from "./session.ts";

/** Ends the session on the server and in this browser. */
export function signOut(): void {
  void attempt("Signing out", () => leaveBy(() => callApi(sessionPath, { method: "DELETE" })));
}
