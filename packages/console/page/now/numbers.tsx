import type { ComponentChildren } from 'preact';
import { BarChart, count, duration, minuteOf, shortMinute, Table } from '@call-webhooks/ui';
import type { AppVersion, Percentiles, Period, Result, SourceCounts } from '../../src/api-types.ts';
import { PERIODS, RESULTS, SOURCES } from '../model/words.ts';
import { go, Link, OutcomeWords } from '../parts/cells.tsx';
import { Section } from '../parts/section.tsx';
import { marksOf } from './versions.tsx';

interface PeriodProps {
  readonly period: Period;
  readonly range: 'hour' | 'day';
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly tone?: 'bad' | 'wait' | false | undefined;
  readonly children?: ComponentChildren;
}

const Tile = ({ name, value, tone, children }: TileProps) => (
  <div class="tile" data-tone={tone || undefined}>
    <dt>{name}</dt>
    <dd>
      <span class="tile-value">{value}</span>
      <span class="tile-note">{children}</span>
    </dd>
  </div>
);

/** The numbers that matter most: of deliveries by webhook, each with its share. */
export function Tiles({ period, range }: PeriodProps) {
  const { sources, handlerMs, lagMs, late } = period;
  const { total = 0, results } = sources.webhook ?? {};
  const tile = (result: Result, tone?: 'bad' | 'wait') => {
    const times = results?.[result] ?? 0;
    return (
      <Tile
        name={NAMES[result] ?? RESULTS[result][0]}
        value={count(times)}
        tone={times > 0 && tone}
      >
        {share(times, total)}
      </Tile>
    );
  };
  return (
    <dl class="tiles" aria-label={`Webhook deliveries of ${PERIODS[range]}`}>
      <Tile name="Webhook deliveries" value={count(total)}>
        {rate(period)} per minute
      </Tile>
      {tile('handled')}
      {tile('duplicate')}
      {tile('dead-letter', 'bad')}
      {tile('failed', 'bad')}
      {tile('rejected', 'wait')}
      <TimeTile name="Handler time, all sources" times={handlerMs} none="No handler ran.">
        {late > 0 && ` · ${count(late)} after the deadline`}
      </TimeTile>
      <TimeTile name="Lag" times={lagMs} none="The time from signing to arrival." show={lag}>
        {lagMs && ', in whole seconds'}
      </TimeTile>
    </dl>
  );
}

const NAMES: Partial<Record<Result, string>> = {
  duplicate: 'Duplicates',
  'dead-letter': 'Dead-lettered',
};

interface TimeTileProps {
  readonly name: string;
  readonly times: Percentiles | null;
  /** What is said while nothing was measured. */
  readonly none: string;
  readonly show?: (ms: number) => string;
  readonly children?: ComponentChildren;
}

/** It is measured in whole seconds. */
const lag = (ms: number) => (ms < 1_000 ? '< 1 s' : duration(ms));

const TimeTile = ({ name, times, none, show = duration, children }: TimeTileProps) => (
  <Tile name={`${name}, p95`} value={times ? show(times.p95) : '–'}>
    {times ? `p50 ${show(times.p50)}` : none}
    {children}
  </Tile>
);

/** Of the minutes that are over. */
function rate({ points, step }: Period): string {
  const over = points.slice(0, -1);
  const sum = over.reduce((all, point) => all + totalOf(point), 0);
  const perMinute = sum / ((over.length * step) / 60_000);
  return perMinute > 0 && perMinute < 10 ? perMinute.toFixed(1) : count(Math.round(perMinute));
}

const totalOf = (results: Record<Result, number>): number =>
  (Object.keys(RESULTS) as Result[]).reduce((sum, result) => sum + results[result], 0);

/** Never `100%` while one is missing, and never `0%` if there is one. */
function share(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (part / whole) * 100;
  if (part < whole && percent > 99.9) return '> 99.9%';
  if (part > 0 && percent < 0.1) return '< 0.1%';
  return `${percent.toFixed(percent > 0 && percent < 100 && (percent < 10 || percent > 99) ? 1 : 0)}%`;
}

interface ChartProps extends PeriodProps {
  readonly versions: readonly AppVersion[];
}

/** Results over the last hour or day. A bar leads to its deliveries. */
export function Chart({ period: { points, step }, range, versions }: ChartProps) {
  const show = (at: number) => {
    const since = points[at]?.at ?? 0;
    go('deliveries', {
      ...{ source: 'webhook', since: String(since), until: String(since + step) },
    });
  };
  return (
    <BarChart
      label={`Webhook deliveries ${range === 'hour' ? 'per minute' : 'per ten minutes'}`}
      places={points.map(({ at }) => (range === 'hour' ? minuteOf(at) : shortMinute(at)))}
      marks={marksOf(versions, points, step)}
      onChoose={show}
      series={Object.entries(RESULTS)
        .map(([result, [name, tone]]) => ({
          result: result as Result,
          name: name.toLowerCase(),
          tone: result === 'dead-letter' ? ('odd' as const) : tone,
          values: points.map((point) => point[result as Result]),
        }))
        .filter(
          ({ result, values }) => !RARE.includes(result) || values.some((times) => times > 0),
        )}
    />
  );
}

const SHOWN: readonly Result[] = [
  ...(['handled', 'duplicate', 'dead-letter', 'in-dead-letters', 'failed', 'rejected'] as const),
];
/** Shown only where there are any. */
const RARE: readonly Result[] = ['ignored', 'in-dead-letters'];

/** Each source apart: a redrive is no delivery. */
export function SourcesSection({ period, range }: PeriodProps) {
  const rows = Object.entries(SOURCES).flatMap(([source, [name]]) => {
    const counts = period.sources[source as 'webhook'];
    return counts ? [{ source, name, counts }] : [];
  });
  if (rows.length === 0) return null;
  return (
    <Section title={`By source, ${PERIODS[range]}`}>
      <Table
        label="Sources"
        rows={rows}
        keyOf={({ source }) => source}
        columns={[
          {
            name: 'Source',
            cell: ({ source, name }) => (
              <Link to="deliveries" query={{ source }}>
                {name}
              </Link>
            ),
          },
          { name: 'Total', align: 'end', cell: ({ counts }) => count(counts.total) },
          ...SHOWN.filter(
            (result) =>
              !RARE.includes(result) || rows.some(({ counts }) => counts.results[result] > 0),
          ).map((result) => ({
            name: NAMES[result] ?? RESULTS[result][0],
            align: 'end' as const,
            cell: ({ counts }: { readonly counts: SourceCounts }) => (
              <>
                {count(counts.results[result])}{' '}
                <span class="hint">{share(counts.results[result], counts.total)}</span>
              </>
            ),
          })),
        ]}
      />
    </Section>
  );
}

/** The count of each outcome, with its meaning and fix. */
export function OutcomesSection({ period, range }: PeriodProps) {
  const sums = new Map<string, number>();
  for (const counts of Object.values(period.sources))
    for (const [code, times] of Object.entries(counts.outcomes))
      sums.set(code, (sums.get(code) ?? 0) + times);
  const rows = [...sums].sort(([, one], [, other]) => other - one);
  return (
    <Section title={`Outcomes of all sources, ${PERIODS[range]}`}>
      <Table
        label="Outcomes"
        rows={rows}
        keyOf={([code]) => code}
        empty="No deliveries in this period."
        columns={[
          {
            name: 'Outcome',
            cell: ([code]) => (
              <Link to="deliveries" query={{ outcome: code }}>
                <code class="code-name">{code}</code>
              </Link>
            ),
          },
          { name: 'Times', align: 'end', cell: ([, times]) => count(times) },
          { name: 'What it means', cell: ([code]) => <OutcomeWords code={code} /> },
        ]}
      />
    </Section>
  );
}
