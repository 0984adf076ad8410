import palette from "../web/palette.css" with { type: "text" };
import adapt from "./page/style/adapt.css" with { type: "text" };
import base from "./page/style/base.css" with { type: "text" };
import charts from "./page/style/chart.css" with { type: "text" };
import controls from "./page/style/controls.css" with { type: "text" };
import desk from "./page/style/desk.css" with { type: "text" };
import destinations from "./page/style/destinations.css" with { type: "text" };
import detail from "./page/style/detail.css" with { type: "text" };
import flights from "./page/style/flights.css" with { type: "text" };
import frame from "./page/style/frame.css" with { type: "text" };
import kit from "./page/style/kit.css" with { type: "text" };
import list from "./page/style/list.css" with { type: "text" };
import marks from "./page/style/marks.css" with { type: "text" };
import commands from "./page/style/palette.css" with { type: "text" };
import phone from "./page/style/phone.css" with { type: "text" };
import replays from "./page/style/replays.css" with { type: "text" };
import views from "./page/style/views.css" with { type: "text" };
import chart from "uplot/dist/uPlot.min.css" with { type: "text" };

/** In cascade order: later style sheets override earlier ones. */
export const styles = [
  chart,
  palette,
  base,
  kit,
  controls,
  frame,
  list,
  marks,
  detail,
  views,
  charts,
  flights,
  destinations,
  replays,
  commands,
  phone,
  desk,
  adapt,
].join("\n");
