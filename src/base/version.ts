import manifest from "../../package.json" with { type: "json" };

/** The program's version, as in package.json. */
export const { version } = manifest;

/** The version of the API. It changes only when clients must change. */
export const apiVersion = "1.0.0";
