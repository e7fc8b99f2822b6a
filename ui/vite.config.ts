// Builds the page as one file, dist/page.html: script and style stand in it, and a
// Content-Security-Policy that allows these two by their hashes and nothing else.
import { createHash } from "node:crypto";
import preact from "@preact/preset-vite";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Hashes of what stands in all elements of a kind. */
function hashes(html: string, element: "script" | "style"): string {
  const found = html.matchAll(new RegExp(`<${element}\\b[^>]*>([\\s\\S]*?)</${element}>`, "g"));
  return [...found].map((match) => hash(match[1] ?? "")).join(" ");
}

const CHARSET = '<meta charset="utf-8" />';

/** Names the policy once everything else is in place, and the file as it is embedded. */
function policy(): Plugin {
  return {
    name: "policy",
    enforce: "post",
    generateBundle: {
      // After the one that puts script and style into the file.
      order: "post",
      handler(_, bundle) {
        const page = bundle["index.html"] ?? bundle["page.html"];
        if (page?.type !== "asset") throw new Error("there is no page to name a policy in");
        const html = String(page.source);
        const allowed = [
          "default-src 'none'",
          `script-src ${hashes(html, "script")}`,
          `style-src ${hashes(html, "style")}`,
          "img-src data:",
          // `report --serve` puts 'self' here (crates/stallscope/src/page).
          "connect-src 'none'",
          "base-uri 'none'",
          "form-action 'none'",
        ].join("; ");
        const meta = `<meta http-equiv="Content-Security-Policy" content="${allowed}" />`;
        page.source = html.replace(CHARSET, `${CHARSET}\n    ${meta}`);
        page.fileName = "page.html";
      },
    },
  };
}

/** What uPlot can do and this page does not: bars and splines, a legend, cursor, selection and keeping
    several charts in step, which the page has its own of, ranges and divisions of scales that it finds by
    itself, and axes of dates, which the page's own clock stands for. What is found, how often, and what takes its place. */
const UNUSED: readonly (readonly [pattern: RegExp, times: number, instead: string])[] = [
  [/\(paths\.(stepped|bars|spline)\s*= \w+\);/g, 3, ""],
  [
    /uPlot\.(join|fmtDate|tzDate|sync|assign|fmtNum|rangeNum|rangeLog|rangeAsinh|orient|addGap|clipGaps)\s*= \w+;/g,
    12,
    "",
  ],
  [
    /^\tself\.(addSeries|delSeries|setData|batch|setSelect|setSeries|addBand|setBand|delBand|posToIdx|setLegend|pub) = \w+;/gm,
    12,
    "",
  ],
  [/^\tself\.(redraw|setCursor) = [\s\S]*?^\t\};/gm, 2, ""],
  [/const showCursor =.*;/g, 1, "const showCursor = false;"],
  [/^\tconst events = \{\};[\s\S]*?^\tif \(showCursor\)/gm, 1, "\tif (showCursor)"],
  [/^\tconst seriesIdxMatcher[\s\S]*?^\tsync\.sub\(self\);[\s\S]*?^\t\}/gm, 1, ""],
  [/sync\.unsub\(self\);/g, 1, ""],
  [/const \[ timeIncrs.* = genTimeStuffs\(.*\);/g, 2, ""],
  [/const (_tzDate|_fmtDate|_timeAxisSplits|_timeAxisVals|_timeSeriesVal)\s*= .*;/g, 5, ""],
  [/\(isTime \? \(ms == 1 \? timeIncrsMs : timeIncrsS\) : numIncrs\)/g, 1, "numIncrs"],
  [/isTime \? \(isStr\(sv\) \? .* : sv \|\| _timeSeriesVal\) : /g, 1, ""],
  [
    /isTime \? \([^?]*\?[^?]*\?\s*timeAxisVal\(_tzDate, av\) :\s*av \|\| _timeAxisVals\s*\) : /g,
    1,
    "",
  ],
  [/\b(days|months)\.map\(slice3\)/g, 2, "$1"],
  [/const localTz = .*;/g, 1, ""],
  [/const showLegend = legend\.show;/g, 1, "const showLegend = false;"],
  [/^\tif \(cursor\.dataIdx == null\) \{[\s\S]*?^\t\}$/gm, 1, ""],
  [/^\tbind: \{[\s\S]*?^\t\},$/gm, 1, ""],
  [/isTime && sc\.distr == 1 \? _timeAxisSplits : /g, 1, ""],
  [/const legend\s+= \(self\.legend = .*\);/g, 1, "const legend = {};"],
  [/const cursor\s+= \s*\(self\.cursor = .*\);/g, 1, "const cursor = {};"],
  [/const markers\s+= legend\.markers;\s+\{[\s\S]*?^\t\}/gm, 1, ""],
  [
    /let points = cursor\.points;[\s\S]*?const cursorOnePt = .*;/g,
    1,
    "const focus = {}, cursorOnePt = false;",
  ],
  [/^\ton\("click", wrap,[\s\S]*?^\t\}, true\);/gm, 1, ""],
  [/const drag = cursor\.drag;/g, 1, "const drag = {};"],
  // Points over one x axis of even steps; of scales only plain and logarithmic ones.
  [/(const|let) mode = (u|self)\.mode;/g, 3, "const mode = 1;"],
  [/const xScaleDistr = scaleX\.distr;/g, 1, "const xScaleDistr = 1;"],
  [/scale\.distr == 2/g, 5, "false"],
  [/(sc\.)?distr == (4|100)\s*\? [^:\n]*:/g, 11, ""],
];

/** Functions that only these need: their calls do nothing. */
const EMPTIED = [
  "updateCursor",
  "initCursorPt",
  "initLegendRow",
  "cacheMouse",
  "mouseMove",
  "mouseDown",
  "mouseUp",
  "mouseLeave",
  "dblClick",
  "setSelect",
  "setSeries",
  "setLegend",
  "setFocus",
  "toggleDOM",
  "points",
  "rangeLog",
  "rangeAsinh",
  "logAxisSplits",
  "asinhAxisSplits",
  "log10AxisValsFilt",
  "log2AxisValsFilt",
  "_rangeNum",
  "autoScaleX",
  "numAxisSplits",
  "autoPadSide",
  "cursorPointShow",
  "cursorPointSize",
  "seriesPointsShow",
];

function emptied(code: string, name: string): string {
  const whole = new RegExp(
    `^(\\t*)(?:function ${name}\\(.*|const ${name}\\s*= .*=> )\\{$[\\s\\S]*?^\\1\\};?$`,
    "m",
  );
  if (!whole.test(code)) throw new Error(`uPlot is not the one that this was written for: ${name}`);
  return code.replace(whole, `$1function ${name}() {}`);
}

function lean(): Plugin {
  return {
    name: "lean",
    transform(code, id) {
      if (!id.endsWith("uPlot.esm.js")) return;
      const used = UNUSED.reduce((left, [pattern, times, instead]) => {
        if (left.match(pattern)?.length !== times)
          throw new Error(`uPlot is not the one that this was written for: ${pattern}`);
        return left.replace(pattern, instead);
      }, code);
      return EMPTIED.reduce(emptied, used);
    },
  };
}

export default defineConfig({
  plugins: [lean(), preact(), viteSingleFile({ removeViteModuleLoader: true }), policy()],
  build: {
    target: "es2022",
    // No getter of what is used here does anything.
    rolldownOptions: { treeshake: { propertyReadSideEffects: false } },
    // Those that know light-dark() by themselves, all since May 2024.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    reportCompressedSize: false,
  },
});
