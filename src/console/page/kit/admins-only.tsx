import { commandOf } from "./given.ts";
import { Empty } from "./ui.tsx";

/** Shown instead of what only admins may open. */
export function AdminsOnly() {
  return (
    <Empty title="Admins only">
      <p>
        To get a sign-in link for the admin role, run{" "}
        <code>{commandOf("console --role admin")}</code>.
      </p>
    </Empty>
  );
}
