import { attempt } from "./action.tsx";
import { callApi } from "./api.ts";
import { sessionPath } from "./early.ts";
import { leaveBy } from "./session.ts";

/** The name of who uses this browser; empty if they were asked and gave none. */
export const nameKey = "skyhook.name";

/** Ends the session on the server and in this browser, which may be somebody else's next. */
export function signOut(): void {
  localStorage.removeItem(nameKey);
  void attempt("Signing out", () => leaveBy(() => callApi(sessionPath, { method: "DELETE" })));
}
