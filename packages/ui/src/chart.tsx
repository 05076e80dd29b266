import type { ComponentChildren } from 'preact';
import type { Tone } from './badge.tsx';

/** One series of a chart. */
export interface Series {
  readonly name: string;
  readonly tone: Tone;
  /** One value for each place of the axis; `undefined` where there is none. */
  readonly values: readonly (number | undefined)[];
}

interface ChartProps {
  /** Says what the chart shows, as a heading and for screen readers. */
  readonly label: string;
  readonly series: readonly Series[];
  /** The name of a place of the axis, for tooltips and the ends: `12:05`. */
  readonly places: readonly string[];
  /** How a value is written; as a number by default. */
  readonly format?: (value: number) => string;
}

const WIDTH = 600;
const HEIGHT = 120;

const plain = (value: number): string => value.toLocaleString();

/** Bars, the series on top of each other. */
export function BarChart({ label, series, places, format = plain }: ChartProps) {
  const sums = places.map((_, at) => sum(series.map(({ values }) => values[at] ?? 0)));
  const top = Math.max(1, ...sums);
  const step = WIDTH / Math.max(1, places.length);
  return (
    <Frame label={label} series={series} places={places} top={format(top)} format={format}>
      {places.map((place, at) => {
        let below = 0;
        return (
          <g key={place}>
            {series.map(({ name, tone, values }) => {
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
            })}
          </g>
        );
      })}
    </Frame>
  );
}

/** Lines over the same axis. A line has a gap where a value is missing. */
export function LineChart({ label, series, places, format = plain }: ChartProps) {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const top = Math.max(1, ...known);
  const step = WIDTH / Math.max(1, places.length);
  const x = (at: number) => (at + 0.5) * step;
  const y = (value: number) => HEIGHT - (value / top) * HEIGHT;
  return (
    <Frame label={label} series={series} places={places} top={format(top)} format={format}>
      {series.map(({ name, tone, values }) => (
        <g key={name} data-tone={tone}>
          <path
            d={values
              .map((value, at) => {
                if (value === undefined) return '';
                const starts = at === 0 || values[at - 1] === undefined;
                return `${starts ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
              })
              .join('')}
          />
          {values.map(
            (value, at) =>
              value !== undefined && (
                <path key={places[at]} class="point" d={`M${String(x(at))} ${String(y(value))}h0`}>
                  <title>{`${places[at] ?? ''}: ${format(value)} ${name}`}</title>
                </path>
              ),
          )}
        </g>
      ))}
    </Frame>
  );
}

interface FrameProps extends Required<ChartProps> {
  readonly top: string;
  readonly children: ComponentChildren;
}

/** The heading, the highest value, the ends of the axis and the legend; and a table to be read out. */
const Frame = ({ label, series, places, top, format, children }: FrameProps) => (
  <figure class="chart">
    <figcaption>{label}</figcaption>
    <p class="chart-top" aria-hidden="true">
      {top}
    </p>
    <svg viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none" aria-hidden>
      {children}
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
            {series.map(({ name, values }) => {
              const value = values[at];
              return <td key={name}>{value === undefined ? '' : format(value)}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  </figure>
);

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
