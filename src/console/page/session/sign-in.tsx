import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { markUri } from "../../../web/mark.ts";
import { ApiError, callApi } from "../kit/api.ts";
import { CopyButton } from "../kit/copy.tsx";
import { sessionPath } from "../kit/early.ts";
import { commandOf, given } from "../kit/given.ts";
import { signIn, signOutReason } from "../kit/session.ts";
import type { SessionInfo } from "../kit/wire.ts";

import { rememberedName } from "./ask-name.tsx";

const reasons = {
  "signed-out": "You have signed out.",
  expired: "Your session has expired. Sign in to continue where you left off.",
  forbidden: "This token cannot open the console. Use one with the operator or admin role.",
} as const;

/** Where the operator wanted to go before signing in. For this tab, and not secret. */
const returnKey = "skyhook.return";

/**
 * Reads the one-time code that `skyhook console` puts in the address, and puts there what was asked for before.
 */
export function takeCode(): string | null {
  const code = /^#code=([\w.-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code === null) return null;
  history.replaceState(null, "", location.pathname + (sessionStorage.getItem(returnKey) ?? ""));
  sessionStorage.removeItem(returnKey);
  return code;
}

/** `#/events` of an address. The rest can name a person, and proxies log URLs. */
const viewOf = (place: string): string => /^#\/\w+/.exec(place)?.[0] ?? "";

/** The URL that signs in at the issuer and then returns to this view. */
function issuerLink(): string {
  const view = viewOf(location.hash) || viewOf(sessionStorage.getItem(returnKey) ?? "");
  const isKept = signOutReason() !== "signed-out" && view !== "";
  return `console/oidc/start${isKept ? `?return=${encodeURIComponent(view)}` : ""}`;
}

/** After a return to the view, puts the rest of the remembered address back. */
export function takePlace(): void {
  const place = sessionStorage.getItem(returnKey);
  if (place !== null && viewOf(place) === location.hash) {
    history.replaceState(null, "", location.pathname + place);
  }
  sessionStorage.removeItem(returnKey);
}

/** Remembers the address of the page, unless the operator has left on purpose. */
function rememberPlace(): void {
  if (signOutReason() === "signed-out") sessionStorage.removeItem(returnKey);
  else if (/^#\/./.test(location.hash)) sessionStorage.setItem(returnKey, location.hash);
}

export function SignIn() {
  const host = given("issuer");
  const command = commandOf("console");
  const reason = signOutReason();
  const [message, setMessage] = useState<string | null>(reason === null ? null : reasons[reason]);
  const [isBusy, setIsBusy] = useState(false);
  const page = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);
  // `autofocus` works once per page load, so not after signing out.
  useEffect(() => page.current?.focus(), []);

  /** Signs in with a one-time code of `skyhook console`, or with a token. */
  async function enter(
    by: { readonly body: object } | { readonly headers: Record<string, string> },
  ): Promise<void> {
    setIsBusy(true);
    setMessage(null);
    try {
      signIn(await callApi<SessionInfo>(sessionPath, { method: "POST", ...by }));
    } catch (error) {
      setMessage(messageOf(error));
      setIsBusy(false);
    }
  }

  // Before the page is painted: a link opened at once would replace the address.
  useLayoutEffect(() => {
    rememberPlace();
    const tryCode = () => {
      const code = takeCode();
      if (code !== null) void enter({ body: { code, ...rememberedName() } });
    };
    tryCode();
    // Opening a sign-in link in this tab changes only the fragment and does not reload the page.
    addEventListener("hashchange", tryCode);
    return () => removeEventListener("hashchange", tryCode);
  }, []);

  return (
    <main class="sign-in" tabIndex={-1} ref={page}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isBusy) return;
          const token = new FormData(event.currentTarget).get("token");
          if (typeof token !== "string") return;
          void enter({ headers: { authorization: `Bearer ${cleaned(token)}` } });
        }}
      >
        <h1>
          <img src={markUri()} width="36" height="36" alt="" />
          Sign in to Skyhook
        </h1>
        {message !== null && (
          <p class="error" role="alert">
            {message}
          </p>
        )}
        {host !== null && (
          <a class="button primary" href={issuerLink()}>
            Sign in with {host}
          </a>
        )}
        <p>
          {host === null ? "Run" : "Or run"} this on the server, and open the link that it prints:
        </p>
        <div class="command-line">
          <pre>{command}</pre>
          <CopyButton label="Copy" text={() => command} />
        </div>
        <details onToggle={() => field.current?.focus()}>
          <summary>Another way: an access token</summary>
          <div class="stack">
            <label>
              <span class="label">Access token with the operator or admin role</span>
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
              <code>{commandOf("token --email you@example.com --role operator")}</code> prints one.
              You stay signed in on this browser for up to 12 hours.
            </p>
          </div>
        </details>
        <p class="quiet">
          {given("host") ?? location.host}, Skyhook {given("version")}
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
    return `This is not a token. Paste the output of \`${commandOf("token")}\`.`;
  // Of a link, the server says more.
  if (error.status === 401 && error.message.startsWith("This link")) return error.message;
  if (error.status === 401) return "This token is invalid or has expired. Create a new one.";
  if (error.status === 403) return reasons.forbidden;
  return error.message || `The server responded with status ${error.status}.`;
}
