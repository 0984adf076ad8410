import chartStyle from "uplot/dist/uPlot.min.css" with { type: "text" };

import { bundlePage } from "./bundle.ts" with { type: "macro" };
import style from "./page/console.css" with { type: "text" };

/** The console's script: made when this program is compiled, or, from source, when this file is first loaded. */
export const script = bundlePage();

export const styles = `${chartStyle}\n${style}`;
