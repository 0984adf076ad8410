import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, exchange, tryToken } from "./api.ts";
import { signedOutBecause, signIn } from "./session.ts";

const reasons = {
  "signed-out": "You are signed out.",
  expired: "Your session has expired. Sign in to continue where you left off.",
  forbidden: "This token may not see the console: it needs the role operator or admin.",
} as const;

/** The one-time code that `skyhook console` put into the address; it is taken out at once. */
export function takeCode(): string | null {
  const code = /^#code=([\w.-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(null, "", location.pathname);
  return code;
}

export function SignIn() {
  const because = signedOutBecause();
  const [fault, setFault] = useState<string | null>(because === null ? null : reasons[because]);
  const [isBusy, setIsBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // `autofocus` counts once a page: not for who was signed out.
  useEffect(() => field.current?.focus(), []);

  async function enter(tokenOf: () => Promise<string>): Promise<void> {
    setIsBusy(true);
    setFault(null);
    try {
      const token = await tokenOf();
      await tryToken(token);
      signIn(token);
    } catch (error) {
      setFault(sentence(error));
      setIsBusy(false);
    }
  }

  useEffect(() => {
    const tryCode = () => {
      const code = takeCode();
      if (code !== null) void enter(() => exchange(code));
    };
    tryCode();
    // A link opened in a tab that already shows this page changes only the fragment.
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
        {fault !== null && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <p>On the server, this prints a link that signs you in once:</p>
        <pre>skyhook console</pre>
        <label>
          <span class="label">Or paste an access token with the role operator</span>
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
          <code>skyhook token --email you@example.com --role operator</code> makes one. It is kept
          in this tab only, until you close it or sign out.
        </p>
      </form>
    </main>
  );
}

/** As people paste them: with `Bearer`, white space, or the shell's `export NAME=` before it. */
function cleaned(text: string): string {
  return text.trim().replace(/^(?:Bearer\s+|export\s+\w+=|\w+=)/, "");
}

function sentence(error: unknown): string {
  if (!(error instanceof ApiError)) return "This is no token: paste what `skyhook token` prints.";
  if (error.status === 401)
    return error.message || "This token is not valid, or has ended: get a new one.";
  if (error.status === 403) return reasons.forbidden;
  return error.message || `The server answered ${error.status}.`;
}
