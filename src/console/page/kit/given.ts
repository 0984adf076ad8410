/** What the server puts into the page: the issuer's host if one is configured, how its commands are called, its address. */
export const given = (name: "issuer" | "program" | "host" | "version") =>
  document.querySelector<HTMLElement>("#console")?.dataset[name] ?? null;

/** A command as the users of this server call it: `bun skyhook send`. */
export const commandOf = (command: string) => `${given("program") ?? "skyhook"} ${command}`;
