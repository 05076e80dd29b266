import { useState } from 'preact/hooks';
import {
  BarChart,
  count,
  duration,
  minuteOf,
  Select,
  shortMinute,
  Table,
  usePoll,
} from '@call-webhooks/ui';
import type {
  AppVersion,
  EventTimes,
  Percentiles,
  Times,
  TimesPoint,
} from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { PERIODS } from '../model/words.ts';
import { ErrorBox, Section } from '../parts/section.tsx';
import { marksOf } from './versions.tsx';

const EVERY_MS = 10_000;

interface TimesProps {
  readonly range: 'hour' | 'day';
  readonly versions: readonly AppVersion[];
}

const KINDS: readonly (readonly [
  kind: 'delivery' | 'handler' | 'store',
  name: string,
  meaning: string,
])[] = [
  [
    'delivery',
    'Whole delivery',
    'The time from the request to the response of a webhook delivery.',
  ],
  [
    'handler',
    'Handler',
    'How long a handler runs: for deliveries, queued runs, redrives and reconcile runs.',
  ],
  ['store', 'Store', 'How long all store calls of one delivery take together.'],
];

/** Whether the store is slow or the handler, since when, and which handler. */
export function TimesSection({ range, versions }: TimesProps) {
  const [event, setEvent] = useState('');
  const { value, error } = usePoll(`times ${range} ${event}`, EVERY_MS, (signal) =>
    get<Times>('api/times', { range, event }, signal),
  );
  // One without a name cannot be asked for.
  const names = value?.events.flatMap(({ eventName }) => eventName || []) ?? [];
  return (
    <Section
      title={`Times, ${PERIODS[range]}`}
      beside={
        <Select
          label="Show the times of"
          value={event}
          options={[
            ['', 'All events'],
            ...[...new Set([...names, ...(event === '' ? [] : [event])])].map(
              (name) => [name, name] as const,
            ),
          ]}
          onChange={setEvent}
        />
      }
    >
      <ErrorBox error={error} />
      <p class="hint">
        Each bar is the 95th percentile over ten minutes.{' '}
        {event !== '' &&
          'Store times are not measured per event, so their chart covers all events.'}
      </p>
      {value && (
        <>
          <div class="times">
            {KINDS.map(([kind, name, meaning]) => (
              <div key={kind}>
                <BarChart
                  label={`${name}: ${shown(value[kind])}`}
                  places={value.points.map(({ at }) =>
                    range === 'hour' ? minuteOf(at) : shortMinute(at),
                  )}
                  series={[
                    {
                      name: `p95 of ${name.toLowerCase()}`,
                      tone: 'info',
                      values: value.points.map((point: TimesPoint) => point[kind] ?? 0),
                    },
                  ]}
                  format={(ms) => (ms === 0 ? '–' : duration(ms))}
                  marks={marksOf(versions, value.points, value.step)}
                />
                <p class="hint">{meaning}</p>
              </div>
            ))}
          </div>
          <EventsTable events={value.events} />
        </>
      )}
    </Section>
  );
}

const shown = (times: Percentiles | null): string =>
  times ? `p50 ${duration(times.p50)}, p95 ${duration(times.p95)}` : 'nothing measured';

const p95 = (times: Percentiles | null): string => (times ? duration(times.p95) : '–');
const p50 = (times: Percentiles | null): string => (times ? duration(times.p50) : '–');

const EventsTable = ({ events }: { readonly events: readonly EventTimes[] }) => (
  <Table
    label="Times by event"
    rows={events}
    keyOf={({ eventName }) => eventName}
    empty="No handler ran in this period."
    columns={[
      {
        name: 'Event',
        cell: ({ eventName }) => <span class="event-name">{eventName || 'unknown'}</span>,
      },
      { name: 'Handler runs', align: 'end', cell: ({ runs }) => count(runs) },
      { name: 'Handler, p50', align: 'end', minor: true, cell: ({ handler }) => p50(handler) },
      { name: 'Handler, p95', align: 'end', cell: ({ handler }) => p95(handler) },
      { name: 'Whole delivery, p95', align: 'end', cell: ({ delivery }) => p95(delivery) },
    ]}
  />
);
