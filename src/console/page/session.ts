/** In `sessionStorage`: no other tab or site can read it, and the browser deletes it with the tab. */
const storageKey = "skyhook.token";

/** Why the last session ended; null if there was none in this page. */
export type SignOutReason = "signed-out" | "expired" | "forbidden" | null;

type Listener = () => void;
const listeners = new Set<Listener>();
let lastReason: SignOutReason = null;

export function token(): string | null {
  return sessionStorage.getItem(storageKey);
}

export function signOutReason(): SignOutReason {
  return lastReason;
}

export function signIn(value: string): void {
  sessionStorage.setItem(storageKey, value);
  lastReason = null;
  notifyListeners();
}

/**
 * Ends the session, but only if its token still is `expected`: a late response to a request of an earlier
 * session must not end the current one.
 */
export function signOut(
  reason: Exclude<SignOutReason, null>,
  expected: string | null = token(),
): void {
  const current = token();
  if (current === null || current !== expected) return;
  sessionStorage.removeItem(storageKey);
  lastReason = reason;
  notifyListeners();
}

/** Calls `listener` on every sign-in and sign-out, until the returned function is called. */
export function onSession(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function notifyListeners(): void {
  for (const listener of listeners) listener();
}

interface TokenClaims {
  readonly roles: readonly string[];
  readonly expiresAt: Date | null;
}

/** Reads the claims of a token, for display only: the signature is not verified here. */
export function readToken(value: string): TokenClaims {
  try {
    const encoded = (value.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const claims: unknown = JSON.parse(atob(encoded));
    if (typeof claims !== "object" || claims === null) return unknownToken;
    const { exp, roles }: { exp?: unknown; roles?: unknown } = claims;
    return {
      roles: Array.isArray(roles) ? roles.map(String) : [],
      expiresAt: typeof exp === "number" ? new Date(exp * 1_000) : null,
    };
  } catch {
    return unknownToken;
  }
}

const unknownToken: TokenClaims = { roles: [], expiresAt: null };
