import { BarChart, LineChart, type Series as ChartSeries } from '@call-webhooks/ui';
import type { Series, SeriesPoint } from '../../src/api-types.ts';
import { duration, minuteOf, shortMinute } from '../model/format.ts';

interface ChartsProps {
  readonly series: Series;
  readonly range: 'hour' | 'day';
}

/** Outcomes, handler time and lag over the last hour or day. */
export function Charts({ series, range }: ChartsProps) {
  const { points } = series;
  const places = points.map(({ at }) => (range === 'hour' ? minuteOf(at) : shortMinute(at)));
  const per = range === 'hour' ? 'a minute' : 'in ten minutes';
  const of = (name: string, tone: ChartSeries['tone'], value: Pick): ChartSeries => ({
    name,
    tone,
    values: points.map(value),
  });
  return (
    <div class="charts">
      <BarChart
        label={`Deliveries ${per}`}
        places={places}
        series={[
          of('acknowledged', 'good', (point) => point.acknowledged),
          of('failed', 'bad', (point) => point.failed),
          of('refused', 'wait', (point) => point.refused),
        ]}
      />
      <LineChart
        label="Handler time"
        places={places}
        format={duration}
        series={[
          of('p50', 'good', (point) => point.handlerMs?.p50),
          of('p95', 'info', (point) => point.handlerMs?.p95),
          of('p99', 'odd', (point) => point.handlerMs?.p99),
        ]}
      />
      <LineChart
        label="Lag, from the signature to the receiver"
        places={places}
        format={duration}
        series={[
          of('p50', 'good', (point) => point.lagMs?.p50),
          of('p95', 'info', (point) => point.lagMs?.p95),
          of('p99', 'odd', (point) => point.lagMs?.p99),
        ]}
      />
    </div>
  );
}

type Pick = (point: SeriesPoint) => number | undefined;
