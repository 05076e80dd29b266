import { Badge, count, Icon, Table, type Tone } from '@call-webhooks/ui';
import type { StatusShown } from '../../src/api-types.ts';
import { Ago, None } from '../parts/cells.tsx';
import { Marked } from '../parts/marked.tsx';

type EventShown = StatusShown['events'][number];

/** What needs attention, before any figure: one line, and then each thing with what to do. */
export function StatusSection({ status }: { readonly status: StatusShown }) {
  const { line, groups, events, notes } = status;
  const tone = toneOf(status);
  return (
    <section class="status section" data-tone={tone} aria-label="Status">
      <div role="status">
        <h3 class="status-line">
          <Icon name={ICONS[tone]} />
          <span>
            <Marked text={line} />
          </span>
        </h3>
      </div>
      {groups.length > 0 && (
        <ul class="attention">
          {groups.map(({ kind, urgent, since, items, fix, docs }) => (
            <li
              key={[kind, urgent, fix].join()}
              class="outcome-note"
              data-tone={urgent ? 'bad' : 'wait'}
            >
              {items.map(({ tenant, eventName, text }, at) => (
                <p key={[tenant, eventName, text].join()}>
                  {urgent && at === 0 && <Badge tone="bad">Urgent</Badge>} <Marked text={text} />
                </p>
              ))}
              <p>
                <strong>
                  <Marked text={fix} />
                </strong>{' '}
                <a class="link" href={docs} target="_blank" rel="noreferrer">
                  More about this
                </a>
              </p>
              <p class="hint">
                Began <Ago at={since} />
              </p>
            </li>
          ))}
        </ul>
      )}
      {notes.map(({ text }) => (
        <p class="hint" key={text}>
          <Marked text={text} />
        </p>
      ))}
      {events.length > 0 && <Events events={events} />}
    </section>
  );
}

const ICONS = { good: 'check', wait: 'clock', bad: 'cross', muted: 'minus' } as const;

/** Green only if everything is known to arrive. */
function toneOf({ attention, undecided, events, unknown }: StatusShown): keyof typeof ICONS {
  if (attention.some(({ urgent }) => urgent)) return 'bad';
  if (attention.length > 0) return 'wait';
  const allArrive = events.length > 0 && events.every(({ state }) => state === 'arrives');
  return unknown === undefined && undecided.length === 0 && allArrive ? 'good' : 'muted';
}

const STATES: Readonly<Record<EventShown['state'], readonly [string, Tone]>> = {
  arrives: ['Arriving', 'good'],
  quiet: ['Quiet', 'muted'],
  attention: ['Needs attention', 'bad'],
  unknown: ['Unknown', 'wait'],
};

const Events = ({ events }: { readonly events: readonly EventShown[] }) => (
  <details>
    <summary>Events ({count(events.length)})</summary>
    <Table
      label="Status of events"
      rows={events}
      keyOf={({ tenant, eventName }) => [tenant, eventName].join()}
      columns={[
        {
          name: 'Event',
          cell: ({ eventName }) => (
            <span class="event-name">{eventName || 'a custom payload'}</span>
          ),
        },
        ...(events.some(({ tenant }) => tenant !== undefined)
          ? [{ name: 'Tenant', cell: ({ tenant }: EventShown) => tenant ?? <None /> }]
          : []),
        {
          name: 'State',
          cell: ({ state, why }) => (
            <>
              <Badge tone={STATES[state][1]}>{STATES[state][0]}</Badge>{' '}
              {why !== undefined && <Marked text={why} />}
            </>
          ),
        },
        {
          name: 'Last arrived',
          cell: ({ arrivedAt }) =>
            arrivedAt === undefined ? <None>not in the last 30 days</None> : <Ago at={arrivedAt} />,
        },
        {
          name: 'Last acknowledged',
          cell: ({ acknowledgedAt }) =>
            acknowledgedAt === undefined ? <None /> : <Ago at={acknowledgedAt} />,
        },
      ]}
    />
  </details>
);
