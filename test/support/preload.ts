import fc from "fast-check";

// A property that fails says which expectation did, not only for what values.
fc.configureGlobal({ includeErrorInReport: true });
