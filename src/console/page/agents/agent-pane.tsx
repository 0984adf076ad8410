import { attempt, Confirmed } from "../action.tsx";
import { Actor } from "../actor.tsx";
import { callApi } from "../api.ts";
import { Detail } from "../layout.tsx";
import { go, writeRoute } from "../route.ts";
import { Mono, type Of, Text } from "../text.tsx";
import { ExactTime } from "../time.tsx";
import { Facts, notify } from "../ui.tsx";
import type { SessionInfo } from "../wire.ts";

import { allowedText } from "./allowances.ts";

interface Parts extends Of<SessionInfo> {
  readonly close: string;
  readonly isAdmin: boolean;
  /** Called when the token was revoked, so that the list loads again. */
  readonly ended: () => void;
}

/** A token of an agent. */
export function AgentPane({ of: agent, close, isAdmin, ended }: Parts) {
  const { id, userAgent: name, allowed, actor, address, createdAt, expiresAt } = agent;
  const revoke = () =>
    attempt("Revoke", async () => {
      await callApi<SessionInfo>(`v1/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
      notify("Token revoked");
      go("agents");
      ended();
    });
  const calls = new URLSearchParams({ action: "agent.called", actor });
  return (
    <Detail label={name} close={close}>
      <article class="destination">
        <header>
          <h2>
            <Text of={name} />
          </h2>
          <div class="actions">
            <Confirmed
              label="Revoke"
              title={`Revoke the token ${name}?`}
              text="The agent is refused at once, and its subscriptions end."
              confirm={() => void revoke()}
            />
          </div>
        </header>
        <Facts
          of={[
            ["Allowed", allowedText(allowed)],
            ["Created by", <Actor of={actor} />],
            ["Created", <ExactTime at={createdAt} />],
            ["From", address],
            ["Expires", <ExactTime at={expiresAt} />],
            ["ID", <Mono of={id} />],
          ]}
        />
        <p class="quiet">
          Its subscriptions are among the <a href={writeRoute("destinations")}>destinations</a>.
          {isAdmin && (
            <>
              {" "}
              The <a href={writeRoute("audit", null, calls)}>audit list</a> has the calls of all
              agents of this user.
            </>
          )}
        </p>
      </article>
    </Detail>
  );
}
