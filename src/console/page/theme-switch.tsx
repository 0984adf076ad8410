import { useEffect, useState } from "preact/hooks";

import { setTheme, theme } from "./theme.ts";

/** Switches from the system's colours to dark ones, to light ones, and back. */
export function ThemeSwitch() {
  const [chosen, setChosen] = useState(theme);
  useEffect(() => {
    const follow = () => setChosen(theme());
    addEventListener("skyhook:theme", follow);
    return () => removeEventListener("skyhook:theme", follow);
  }, []);
  const next = chosen === null ? "dark" : chosen === "dark" ? "light" : null;
  const name = chosen ?? "system";
  return (
    <button
      type="button"
      aria-label={`Theme: ${name}`}
      title={`Theme: ${name}. Switch to ${next ?? "system"}.`}
      onClick={() => setTheme(next)}
    >
      <span aria-hidden="true">{chosen === null ? "◐" : chosen === "dark" ? "●" : "○"}</span>
    </button>
  );
}
