import { useEffect, useRef, useState } from "preact/hooks";
import type UPlot from "uplot";

import { attempt } from "./action.tsx";

export interface Series {
  readonly name: string;
  /** The name of a custom property of the style sheet: `--series-1`. */
  readonly colour: string;
  /** Null where nothing was measured: no bar, and a gap in a line. */
  readonly values: readonly (number | null)[];
  /** For lines, which colour alone would tell apart. */
  readonly isDashed?: boolean;
}

/** Lines instead of stacked bars. */
interface Lines {
  readonly format: (value: number) => string;
}

interface Parts {
  /** Text alternative for screen readers. */
  readonly label: string;
  /** Seconds since the epoch, evenly spaced. */
  readonly times: readonly number[];
  /** In stacking order, bottom first. */
  readonly series: readonly Series[];
  readonly isByDay?: boolean;
  readonly lines?: Lines;
  /** Called with the index of the clicked bar. */
  readonly pick?: (index: number) => void;
}

const heightPx = 200;
const timeOfDay = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const localDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const utcDay = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});

/** Stacked bars, or lines, over time. The legend shows the values under the pointer. */
export function Chart({ label, times, series, isByDay = false, lines, pick }: Parts) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const latest = useRef({ series, pick });
  latest.current = { series, pick };
  const [paintCount, countPaint] = useState(0);
  // A third of the console's code, which a page without charts does not wait for.
  const [library, setLibrary] = useState<typeof UPlot | null>(null);

  useEffect(() => {
    void attempt("Loading the chart", async () => {
      const loaded = await import("uplot");
      setLibrary(() => loaded.default);
    });
    const repaint = () => countPaint((count) => count + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", repaint);
    return () => system.removeEventListener("change", repaint);
  }, []);

  const names = series.map(({ name, colour }) => `${name} ${colour}`).join();
  useEffect(() => {
    const target = container.current;
    if (target === null || library === null) return undefined;
    const valueAt = (row: number, index: number) => latest.current.series[row]?.values[index];
    const intervalSeconds = (times[1] ?? 0) - (times[0] ?? 0);
    const layout = { isByDay, intervalSeconds, lines };
    const options = optionsFor(library, target, series, layout, valueAt);
    const made = new library(options, rowsOf(times, series, lines), target);
    plot.current = made;
    const onClick = () => {
      const index = made.cursor.idx;
      if (index !== null && index !== undefined) latest.current.pick?.(index);
    };
    made.over.addEventListener("click", onClick);
    const resizing = new ResizeObserver(() =>
      made.setSize({ width: target.clientWidth, height: heightPx }),
    );
    resizing.observe(target);
    return () => {
      resizing.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [
    library,
    names,
    isByDay,
    paintCount,
    times[1] === undefined ? 0 : times[1] - (times[0] ?? 0),
  ]);

  useEffect(() => plot.current?.setData(rowsOf(times, series, lines)), [times, series]);

  return (
    <div
      class={pick === undefined ? "chart" : "chart pickable"}
      ref={container}
      role="img"
      aria-label={label}
    />
  );
}

/** The top of the legend first, as in a stack. */
function rowsOf(
  times: readonly number[],
  series: readonly Series[],
  lines: Lines | undefined,
): UPlot.AlignedData {
  if (lines === undefined) return stacked(times, series);
  return [[...times], ...series.map(({ values }) => [...values]).toReversed()];
}

/** Running sums, the top of the stack first: uPlot paints later series over earlier ones. */
function stacked(times: readonly number[], series: readonly Series[]): UPlot.AlignedData {
  let below = times.map(() => 0);
  const rows = series.map(({ values }) => {
    below = below.map((sum, index) => sum + (values[index] ?? 0));
    return below;
  });
  return [[...times], ...rows.toReversed()];
}

interface Layout {
  readonly isByDay: boolean;
  readonly intervalSeconds: number;
  readonly lines: Lines | undefined;
}

function optionsFor(
  library: typeof UPlot,
  target: HTMLElement,
  series: readonly Series[],
  { isByDay, intervalSeconds, lines }: Layout,
  valueAt: (row: number, index: number) => number | null | undefined,
): UPlot.Options {
  const dayOf = (time: number) => (isByDay ? utcDay : localDay).format(time * 1_000);
  const timeOf = (time: number) => timeOfDay.format(time * 1_000);
  const axis = {
    stroke: colourOf(target, "--ink-soft"),
    grid: { stroke: colourOf(target, "--line"), width: 1 },
    ticks: { show: false },
    font: `11px ${getComputedStyle(target).fontFamily}`,
  };
  const bars = library.paths.bars?.({ size: [0.82, 40], align: isByDay ? 0 : 1 });
  const barStyle = (fill: string) => ({
    fill,
    width: 0,
    points: { show: false },
    ...(bars !== undefined && { paths: bars }),
  });
  return {
    width: target.clientWidth,
    height: heightPx,
    // Days are in UTC, hours in the browser's time zone.
    ...(isByDay && { tzDate: (time: number) => library.tzDate(new Date(time * 1_000), "Etc/UTC") }),
    // The style sheet hides the legend's values while the pointer is not over a bar.
    hooks: {
      setLegend: [
        ({ legend }) => target.classList.toggle("pointed", typeof legend.idx === "number"),
      ],
    },
    legend: { markers: { dash: (plot, row) => (plot.series[row]?.dash ? "dashed" : "solid") } },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      // Leave room for whole bars at both ends.
      x: {
        range: (_, min, max) =>
          isByDay
            ? [min - intervalSeconds / 2, max + intervalSeconds / 2]
            : [min, max + intervalSeconds],
      },
      y: { range: (_, __, max) => [0, Math.max(4, max * 1.08)] },
    },
    axes: [
      {
        ...axis,
        space: 56,
        size: 28,
        values: (_, splits) => splits.map((time) => (isByDay ? dayOf(time) : timeOf(time))),
      },
      {
        ...axis,
        size: lines === undefined ? 48 : 68,
        ...(lines !== undefined && {
          values: (_: UPlot, splits: readonly number[]) => splits.map(lines.format),
        }),
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5],
      },
    ],
    series: [
      {
        label: "At",
        value: (_, time) =>
          // Null while the pointer is outside the chart.
          Number.isFinite(time) ? `${dayOf(time)}${isByDay ? "" : ` ${timeOf(time)}`}` : "",
      },
      ...series
        .map(({ name, colour, isDashed = false }, row) => ({
          label: name,
          ...(lines === undefined
            ? barStyle(colourOf(target, colour, "none"))
            : lineStyle(colourOf(target, colour, "none"), isDashed)),
          value: (_: UPlot, __: number, ___: number, index: number | null) =>
            index === null ? "" : valueText(valueAt(row, index), lines),
        }))
        .toReversed(),
    ],
  };
}

/** With points, since a value between two gaps makes no line. */
function lineStyle(stroke: string, isDashed: boolean) {
  return {
    stroke,
    width: 1.5,
    ...(isDashed && { dash: [5, 4] }),
    points: { show: true, size: 4, fill: stroke, width: 0 },
  };
}

function valueText(value: number | null | undefined, lines: Lines | undefined): string {
  if (lines === undefined) return (value ?? 0).toLocaleString("en");
  return typeof value === "number" ? lines.format(value) : "–";
}

/**
 * Resolves a colour of the style sheet for the canvas, in the current light or dark mode. With forced
 * colours, `adjust: "none"` keeps the original, so that series remain distinguishable.
 */
function colourOf(target: HTMLElement, name: string, adjust: "auto" | "none" = "auto"): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  probe.style.setProperty("forced-color-adjust", adjust);
  target.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
