import chart from "uplot/dist/uPlot.min.css" with { type: "text" };

import palette from "../web/rest/palette.css" with { type: "text" };

import { bundlePage } from "./bundle.ts" with { type: "macro" };
import adapt from "./page/style/adapt.css" with { type: "text" };
import base from "./page/style/base.css" with { type: "text" };
import controls from "./page/style/controls.css" with { type: "text" };
import detail from "./page/style/detail.css" with { type: "text" };
import frame from "./page/style/frame.css" with { type: "text" };
import list from "./page/style/list.css" with { type: "text" };
import phone from "./page/style/phone.css" with { type: "text" };
import views from "./page/style/views.css" with { type: "text" };

/** The console's script, bundled when the program is compiled or, from source, when this file loads. */
export const script = bundlePage();

/** In cascade order: later style sheets override earlier ones. */
export const styles = [
  chart,
  palette,
  base,
  controls,
  frame,
  list,
  detail,
  views,
  phone,
  adapt,
].join("\n");
