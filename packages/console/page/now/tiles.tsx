import type { ComponentChildren } from 'preact';
import type { Overview, Percentiles, Series } from '../../src/api-types.ts';
import { count, duration } from '../model/format.ts';

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly tone?: 'bad' | 'wait';
  readonly children?: ComponentChildren;
}

const Tile = ({ name, value, tone, children }: TileProps) => (
  <div class="tile" data-tone={tone}>
    <dt>{name}</dt>
    <dd>
      <span class="tile-value">{value}</span>
      <span class="tile-note">{children}</span>
    </dd>
  </div>
);

interface TilesProps {
  readonly overview: Overview;
  readonly series: Series;
  readonly range: 'hour' | 'day';
}

/** The numbers that matter most. */
export function Tiles({ overview, series, range }: TilesProps) {
  const { inFlight, perMinute } = overview;
  const { deliveries, acknowledged, failed, refused, late, handlerMs, lagMs, queueLagMs } =
    series.summary;
  return (
    <dl class="tiles" aria-label={`Numbers of the last ${range}`}>
      <Tile name="Deliveries a minute" value={rate(perMinute)}>
        {count(deliveries)} in the last {range}
      </Tile>
      <Tile
        name="Acknowledged"
        value={share(acknowledged, acknowledged + failed)}
        {...(failed > 0 && { tone: 'bad' as const })}
      >
        {count(failed)} failed · {count(refused)} refused
      </Tile>
      <TimeTile name="Handler time" times={handlerMs} none="No handler ran.">
        {late > 0 && ` · ${count(late)} after the deadline`}
      </TimeTile>
      <TimeTile name="Lag" times={lagMs} none="From the signature to the receiver." />
      {queueLagMs && <TimeTile name="Wait in the queue" times={queueLagMs} none="" />}
      <Tile name="In flight" value={count(inFlight.deliveries)}>
        {count(inFlight.handlers)} {inFlight.handlers === 1 ? 'handler runs' : 'handlers run'}
      </Tile>
    </dl>
  );
}

interface TimeTileProps {
  readonly name: string;
  readonly times: Percentiles | null;
  /** What is said while nothing was measured. */
  readonly none: string;
  readonly children?: ComponentChildren;
}

/** The median, and the slow ones below it. */
const TimeTile = ({ name, times, none, children }: TimeTileProps) => (
  <Tile name={`${name}, p50`} value={times ? duration(times.p50) : '–'}>
    {times ? `p95 ${duration(times.p95)} · p99 ${duration(times.p99)}` : none}
    {children}
  </Tile>
);

const rate = (perMinute: number): string =>
  perMinute > 0 && perMinute < 10 ? perMinute.toFixed(1) : count(Math.round(perMinute));

/** Never `100%` while one is missing. */
function share(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (part / whole) * 100;
  if (part < whole && percent > 99.9) return '> 99.9%';
  return `${percent.toFixed(percent > 99 && part < whole ? 1 : 0)}%`;
}
