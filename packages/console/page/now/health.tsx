import type { ComponentChildren } from 'preact';
import { Badge, duration, timeOfDay, type IconName, type Tone } from '@call-webhooks/ui';
import type { Overview } from '../../src/api-types.ts';
import { useSession } from '../model/session.ts';
import { sentence } from '../model/words.ts';
import { Section } from '../parts/section.tsx';

type HealthReport = Overview['health'];
type Port = HealthReport['store'];
type UnknownFields = NonNullable<HealthReport['unknownFields']>[number];

const STATES: Readonly<Record<Port['status'], readonly [string, Tone, IconName]>> = {
  up: ['Up', 'good', 'check'],
  down: ['Down', 'bad', 'cross'],
  unknown: ['Unknown', 'muted', 'minus'],
};

/** What to do about a part that is down. */
const FIXES = {
  Store: 'Deliveries get 503 and are retried. Check the server of the store.',
  Queue: 'Deliveries get 503 and are retried. Check the server of the queue.',
  Secrets: 'No delivery can be verified. Check your secrets manager.',
} as const;

/** Whether store, queue and secrets answer. */
export const HealthSection = ({ health }: { readonly health: HealthReport }) => (
  <Section
    title={health.ok ? 'Receiver ready' : 'Receiver not ready'}
    beside={
      <span class="hint">
        {health.ok
          ? 'The process that answered would accept a delivery. This says nothing about rules.'
          : 'The process that answered rejects deliveries.'}{' '}
        Checked at {timeOfDay(health.checkedAt)}.
      </span>
    }
  >
    <ul class="health">
      <Row name="Store" port={health.store} />
      <Row name="Queue" port={health.queue}>
        none: handlers run in the receiver
      </Row>
      <Row name="Secrets" port={health.secrets}>
        fixed: there is no provider to ask
      </Row>
    </ul>
    {health.closing && (
      <p class="form-error">
        The receiver is closing and answers 503. That is right while it is being replaced.
      </p>
    )}
    {health.overloaded && (
      <p class="form-error">
        The receiver handles maxInFlight deliveries and answers further ones 503. Find out what the
        handlers wait for.
      </p>
    )}
    {health.unknownFields?.map((unknown) => (
      <UnknownFieldsNote key={unknown.eventName} {...unknown} />
    ))}
  </Section>
);

/** What to do about an event that has its details under other names. */
const UnknownFieldsNote = ({ eventName, fields }: UnknownFields) => (
  <div class="outcome-note" data-tone="wait">
    <p>
      Handlers of {eventName} find nothing in <code>context.call</code>, or not when the call ended:
      the names of these fields are guesses.
    </p>
    <p>
      The body has: <code>{fields.join(', ')}</code>
    </p>
    <p>
      Set <code>fieldNames</code> to the names of your service.{' '}
      <code>npx call-webhooks infer deliveries.jsonl</code> finds them in captured deliveries.{' '}
      <a class="link" href={useSession().fieldNamesDocs} target="_blank" rel="noreferrer">
        More about field names
      </a>
    </p>
  </div>
);

interface RowProps {
  readonly name: keyof typeof FIXES;
  readonly port: Port | undefined;
  /** What is said of a part that this receiver does not have. */
  readonly children?: ComponentChildren;
}

function Row({ name, port, children }: RowProps) {
  const [text, tone, icon] = port ? STATES[port.status] : [];
  return (
    <li>
      <strong>{name}</strong>
      {text !== undefined && tone && (
        <Badge tone={tone} icon={icon}>
          {text}
        </Badge>
      )}
      <span class="hint">
        {port?.status === 'up' && `responded in ${duration(port.durationMs)}`}
        {port?.status === 'unknown' && 'it has no ping'}
        {port?.status === 'down' && `${sentence(port.error ?? '')} ${FIXES[name]}`}
        {!port && children}
      </span>
    </li>
  );
}
