import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, checkToken, exchange } from "./api.ts";
import { signIn, signOutReason } from "./session.ts";

const reasons = {
  "signed-out": "You have signed out.",
  expired: "Your session has expired. Sign in to continue where you left off.",
  forbidden: "This token cannot open the console. Use one with the operator or admin role.",
} as const;

/** Reads the one-time code that `skyhook console` puts in the address, and removes it from the address. */
export function takeCode(): string | null {
  const code = /^#code=([\w.-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(null, "", location.pathname);
  return code;
}

export function SignIn() {
  const reason = signOutReason();
  const [message, setMessage] = useState<string | null>(reason === null ? null : reasons[reason]);
  const [isBusy, setIsBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // `autofocus` works once per page load, so not after signing out.
  useEffect(() => field.current?.focus(), []);

  async function enter(tokenOf: () => Promise<string>): Promise<void> {
    setIsBusy(true);
    setMessage(null);
    try {
      const token = await tokenOf();
      await checkToken(token);
      signIn(token);
    } catch (error) {
      setMessage(messageOf(error));
      setIsBusy(false);
    }
  }

  useEffect(() => {
    const tryCode = () => {
      const code = takeCode();
      if (code !== null) void enter(() => exchange(code));
    };
    tryCode();
    // Opening a sign-in link in this tab changes only the fragment and does not reload the page.
    addEventListener("hashchange", tryCode);
    return () => removeEventListener("hashchange", tryCode);
  }, []);

  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isBusy) return;
          const token = new FormData(event.currentTarget).get("token");
          if (typeof token === "string") void enter(async () => cleaned(token));
        }}
      >
        <h1>Skyhook console</h1>
        {message !== null && (
          <p class="error" role="alert">
            {message}
          </p>
        )}
        <p>To get a one-time sign-in link, run this on the server:</p>
        <pre>skyhook console</pre>
        <label>
          <span class="label">Or paste an access token with the operator role</span>
          <input
            name="token"
            type="password"
            required
            autocomplete="off"
            spellcheck={false}
            ref={field}
          />
        </label>
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
        <p class="quiet">
          Create one with <code>skyhook token --email you@example.com --role operator</code>. It is
          stored in this tab only, until you close the tab or sign out.
        </p>
      </form>
    </main>
  );
}

/** Removes what is often pasted along with a token: white space, `Bearer`, `export NAME=`. */
function cleaned(text: string): string {
  return text.trim().replace(/^(?:Bearer\s+|export\s+\w+=|\w+=)/, "");
}

function messageOf(error: unknown): string {
  if (!(error instanceof ApiError))
    return "This is not a token. Paste the output of `skyhook token`.";
  if (error.status === 401)
    return error.message || "This token is invalid or has expired. Create a new one.";
  if (error.status === 403) return reasons.forbidden;
  return error.message || `The server responded with status ${error.status}.`;
}
