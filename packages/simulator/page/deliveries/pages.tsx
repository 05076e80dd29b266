import { BarChart, Button, LineChart, timeOfDay, took } from '@call-webhooks/ui';
import type { DeliverySummary } from '@call-webhooks/simulator/control-api';
import type { Filter } from '../state/delivery-window.ts';
import { filterBy, store } from '../state/page-state.ts';

const go = (place: Filter) => (): void => {
  filterBy({ ...store.filter, before: undefined, after: undefined, ...place });
  document.getElementById('timeline')?.focus();
};

/** Where these deliveries are among all that match, and ways to the others. */
export function Pages({ deliveries }: { readonly deliveries: readonly DeliverySummary[] }) {
  const { older, newer } = store.beyond();
  const [first, last] = [deliveries.at(0), deliveries.at(-1)];
  if (!first || !last || older + newer <= 0) return null;
  const total = older + newer + deliveries.length;
  const text = `${(newer + 1).toLocaleString()} to ${(newer + deliveries.length).toLocaleString()} of ${total.toLocaleString()}, newest first`;
  return (
    <nav class="pages" aria-label="Pages">
      <Button label="Newest" small disabled={newer === 0} onClick={go({})} />
      <Button
        label="Newer"
        small
        disabled={newer === 0}
        onClick={go({ after: String(first.number) })}
      />
      <span>{text}</span>
      <Button
        label="Older"
        small
        disabled={older <= 0}
        onClick={go({ before: String(last.number) })}
      />
      <Button label="Oldest" small disabled={older <= 0} onClick={go({ after: '0' })} />
    </nav>
  );
}

/** How many bars and points a chart has at most. */
const PLACES = 30;

/** Outcomes and response times of the deliveries shown, over time. */
export function Charts({ deliveries }: { readonly deliveries: readonly DeliverySummary[] }) {
  const attempts = deliveries
    .flatMap((delivery) => delivery.attempts)
    .filter(({ kind }) => kind === 'scheduled')
    .sort((one, other) => one.startedAt - other.startedAt);
  const [first, last] = [attempts.at(0), attempts.at(-1)];
  if (!first || !last) return <p class="none">Nothing has been sent yet.</p>;
  const width = Math.max(1_000, Math.ceil((last.startedAt - first.startedAt + 1) / PLACES));
  const count = Math.ceil((last.startedAt - first.startedAt + 1) / width);
  const groups = Array.from({ length: count }, (_, at) => {
    const from = first.startedAt + at * width;
    return attempts.filter(({ startedAt }) => startedAt >= from && startedAt < from + width);
  });
  const places = groups.map((_, at) => timeOfDay(first.startedAt + at * width));
  const countOf = (next: string) =>
    groups.map((group) => group.filter(({ result }) => result?.next === next).length);
  const times = groups.map((group) =>
    group.flatMap(({ tookMs }) => tookMs ?? []).sort((one, other) => one - other),
  );
  const percentile = (share: number) =>
    times.map((sorted) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]);
  return (
    <div class="charts">
      <BarChart
        label="Attempts by result"
        places={places}
        series={[
          { name: 'acknowledged', tone: 'good', values: countOf('acknowledged') },
          { name: 'to be retried', tone: 'wait', values: countOf('retry') },
          { name: 'paused the rule', tone: 'bad', values: countOf('paused') },
        ]}
      />
      <LineChart
        label="Response time"
        places={places}
        format={took}
        series={[
          { name: 'half of them (p50)', tone: 'info', values: percentile(0.5) },
          { name: '95 of 100 (p95)', tone: 'odd', values: percentile(0.95) },
        ]}
      />
    </div>
  );
}
