import type { SessionInfo } from "./wire.ts";

/** Why the last session ended; null if there was none in this page. */
type SignOutReason = "signed-out" | "expired" | "forbidden" | null;

type Listener = () => void;
const listeners = new Set<Listener>();
/** Its cookie is for the browser only: scripts cannot read it. Undefined until the server was asked. */
let current: SessionInfo | null | undefined;
let lastReason: SignOutReason = null;
/** Whether the operator is signing out. Another request may hear first that the session has ended. */
let isLeaving = false;

/** Notifies the other tabs, which share the cookie, when the session begins or ends. */
const tabs = new BroadcastChannel("skyhook.session");

export function session(): SessionInfo | null | undefined {
  return current;
}

/** Only admins may see and change some things. The API enforces it; the page only hides them. */
export function isAdmin(): boolean {
  return current?.roles.includes("admin") ?? false;
}

export function signOutReason(): SignOutReason {
  return lastReason;
}

/** Remembers the session that the server has opened. */
export function signIn(opened: SessionInfo, isNews = true): void {
  current = opened;
  lastReason = null;
  notifyListeners();
  if (isNews) tabs.postMessage("changed");
}

/**
 * Forgets the session, but only if it still is `expected`: a late response to a request of an earlier
 * session must not end the current one.
 */
export function signOut(
  reason: SignOutReason,
  expected: SessionInfo["id"] | null = current?.id ?? null,
): void {
  if (current === null || (current?.id ?? null) !== expected) return;
  // When the page opens, there may be no session: none has ended.
  lastReason = current === undefined ? null : isLeaving ? "signed-out" : reason;
  current = null;
  notifyListeners();
  if (lastReason === "signed-out") tabs.postMessage("changed");
}

/** Signs out by `end`, which ends the session on the server. */
export async function leaveBy(end: () => Promise<unknown>): Promise<void> {
  const { id = null } = current ?? {};
  isLeaving = true;
  try {
    await end();
    signOut("signed-out", id);
  } finally {
    isLeaving = false;
  }
}

/** Calls `listener` on every sign-in and sign-out, until the returned function is called. */
export function onSession(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls `listener` when another tab has signed in or out. */
export function onOtherTab(listener: Listener): () => void {
  tabs.addEventListener("message", listener);
  return () => tabs.removeEventListener("message", listener);
}

function notifyListeners(): void {
  for (const listener of listeners) listener();
}
