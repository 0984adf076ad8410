/** Gone when the tab is closed, and no other tab or site can read it. */
const place = "skyhook.token";

/** Why somebody who was signed in is no longer. */
export type SignedOutBecause = "signed-out" | "expired" | "forbidden" | null;

type Listener = () => void;
const listeners = new Set<Listener>();
let because: SignedOutBecause = null;

export function token(): string | null {
  return sessionStorage.getItem(place);
}

export function signedOutBecause(): SignedOutBecause {
  return because;
}

export function signIn(value: string): void {
  sessionStorage.setItem(place, value);
  because = null;
  announce();
}

/** Ends the session; given whose it was when a question was asked, only that one: an answer may be late. */
export function signOut(
  reason: Exclude<SignedOutBecause, null>,
  whose: string | null = token(),
): void {
  const held = token();
  if (held === null || held !== whose) return;
  sessionStorage.removeItem(place);
  because = reason;
  announce();
}

/** Calls `listener` on every sign-in and sign-out, until the returned function is called. */
export function onSession(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function announce(): void {
  for (const listener of listeners) listener();
}

interface TokenClaims {
  readonly roles: readonly string[];
  readonly endsAt: Date | null;
}

/** What a token says of itself, to show: only the server knows whether it is true. */
export function readToken(value: string): TokenClaims {
  try {
    const encoded = (value.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const claims: unknown = JSON.parse(atob(encoded));
    if (typeof claims !== "object" || claims === null) return unknownToken;
    const { exp, roles }: { exp?: unknown; roles?: unknown } = claims;
    return {
      roles: Array.isArray(roles) ? roles.map(String) : [],
      endsAt: typeof exp === "number" ? new Date(exp * 1_000) : null,
    };
  } catch {
    return unknownToken;
  }
}

const unknownToken: TokenClaims = { roles: [], endsAt: null };
