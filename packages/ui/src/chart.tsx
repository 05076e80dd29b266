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
  /** A value as a text; a count by default. */
  readonly format?: (value: number) => string;
  /** Lines across the bars: at which place, and what happened there. */
  readonly marks?: readonly { readonly at: number; readonly name: string }[];
  /** Called with the place that is clicked. Whatever it does must be possible without a mouse, too. */
  readonly onChoose?: (at: number) => void;
}

const WIDTH = 600;
const HEIGHT = 120;

/**
 * Bars, the series on top of each other: with the highest value, the ends of the axis, a legend, and a
 * table to be read out.
 */
export function BarChart({
  label,
  series,
  places,
  format = count,
  marks = [],
  onChoose,
}: ChartProps) {
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
            <title>{`${place}: ${format(value)} ${name}`}</title>
          </rect>
        )
      );
    });
  };
  return (
    <figure class="chart">
      <figcaption>{label}</figcaption>
      <p class="chart-top" aria-hidden="true">
        {format(top)}
      </p>
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        aria-hidden
      >
        {places.map((place, at) => (
          <g key={place} class={onChoose && 'chart-place'} onClick={() => onChoose?.(at)}>
            {onChoose && <rect class="chart-area" x={at * step} width={step} height={HEIGHT} />}
            {bars(place, at)}
          </g>
        ))}
        {marks.map(({ at, name }) => (
          <line
            key={`${String(at)} ${name}`}
            class="chart-mark"
            x1={at * step}
            x2={at * step}
            y2={HEIGHT}
          >
            <title>{name}</title>
          </line>
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
                <td key={name}>{format(values[at] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
