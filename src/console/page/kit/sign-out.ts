import { attempt } from "./action.tsx";
import { callApi } from "./api.ts";
import { sessionPath } from "./early.ts";
import { leaveBy } from "./session.ts";

/** Ends the session on the server and in this browser. */
export function signOut(): void {
  void attempt("Signing out", () => leaveBy(() => callApi(sessionPath, { method: "DELETE" })));
}
