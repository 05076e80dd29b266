import type { Tone } from './badge.tsx';
import { count } from './format.ts';

interface ChartProps {
  /** Says what the chart shows, as a heading and for screen readers. */
  readonly label: string;
  readonly series: readonly {
    readonly name: string;
    readonly tone: Tone;
    /** One value for each place of the axis. */
    readonly values: readonly number[];
  }[];
  /** The name of a place of the axis, for tooltips and the ends: `12:05`. */
  readonly places: readonly string[];
}

const WIDTH = 600;
const HEIGHT = 120;

/**
 * Bars, the series on top of each other: with the highest value, the ends of the axis, a legend, and a
 * table to be read out.
 */
export function BarChart({ label, series, places }: ChartProps) {
  const sums = places.map((_, at) =>
    series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  );
  const top = Math.max(1, ...sums);
  const step = WIDTH / Math.max(1, places.length);
  const bars = (place: string, at: number) => {
    let below = 0;
    return series.map(({ name, tone, values }) => {
      const value = values[at] ?? 0;
      const height = (value / top) * HEIGHT;
      below += height;
      return (
        value > 0 && (
          <rect
            key={name}
            data-tone={tone}
            x={at * step + step * 0.1}
            width={step * 0.8}
            y={HEIGHT - below}
            height={height}
          >
            <title>{`${place}: ${count(value)} ${name}`}</title>
          </rect>
        )
      );
    });
  };
  return (
    <figure class="chart">
      <figcaption>{label}</figcaption>
      <p class="chart-top" aria-hidden="true">
        {count(top)}
      </p>
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        aria-hidden
      >
        {places.map((place, at) => (
          <g key={place}>{bars(place, at)}</g>
        ))}
      </svg>
      <p class="chart-ends" aria-hidden="true">
        <span>{places.at(0)}</span>
        <span>{places.at(-1)}</span>
      </p>
      <ul class="legend" aria-hidden="true">
        {series.map(({ name, tone }) => (
          <li key={name} data-tone={tone}>
            {name}
          </li>
        ))}
      </ul>
      <table class="visually-hidden">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {places.map((place, at) => (
            <tr key={place}>
              <th scope="row">{place}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{count(values[at] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
