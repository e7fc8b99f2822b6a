// A small line over the whole run, with the window marked.

import { type Sparkline as Line, sparkPath } from "../charts/sparkline";

const WIDTH = 90;
const HEIGHT = 22;

export function Sparkline({ line, label }: { readonly line: Line; readonly label: string }) {
  const path = sparkPath(line, WIDTH, HEIGHT - 2);
  const [from, to] = [line.from * WIDTH, line.to * WIDTH];
  return (
    <svg
      class="sparkline"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      <rect class="spark-window" x={from} y="0" width={Math.max(to - from, 1)} height={HEIGHT} />
      <line class="spark-base" x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      <path class="spark-line" d={path} transform="translate(0 1)" />
    </svg>
  );
}
