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
  Store:
    'Deliveries are answered with 503, and the service retries them. Check the server of the store.',
  Queue:
    'Deliveries are answered with 503, and the service retries them. Check the server of the queue.',
  Secrets: 'No delivery can be verified. Check your secrets manager.',
} as const;

/** Whether store, queue and secrets answer. */
export const HealthSection = ({ health }: { readonly health: HealthReport }) => (
  <Section
    title={health.ok ? 'Receiver ready' : 'Receiver not ready'}
    beside={
      <span class="hint">
        {health.ok
          ? 'The process that responded can accept deliveries. This does not show whether a rule is paused in the service.'
          : 'The process that responded cannot accept deliveries.'}{' '}
        Checked at {timeOfDay(health.checkedAt)}.
      </span>
    }
  >
    <ul class="health">
      <Row name="Store" port={health.store} />
      <Row name="Queue" port={health.queue}>
        The receiver has no queue. Handlers run in the receiver itself.
      </Row>
      <Row name="Secrets" port={health.secrets}>
        {health.secretIds === undefined
          ? 'Each tenant has its own secrets. The receiver loads them when a delivery arrives, so there is nothing to check now.'
          : 'The secrets are part of the configuration, so there is no secrets manager to check.'}
      </Row>
    </ul>
    {health.closing && (
      <p class="form-error">
        The receiver is shutting down and returns 503. This is expected during a deployment.
      </p>
    )}
    {health.overloaded && (
      <p class="form-error">
        The receiver is handling as many deliveries as <code>maxInFlight</code> allows, and returns
        503 for any more. Find out what the handlers are waiting for.
      </p>
    )}
    {health.unknownFields?.map((unknown) => (
      <UnknownFieldsNote key={unknown.eventName} {...unknown} />
    ))}
  </Section>
);

/** What to do about an event that has its details under other names. */
const UnknownFieldsNote = ({ eventName, properties, fields }: UnknownFields) => (
  <div class="outcome-note" data-tone="wait">
    <p>
      In {eventName} handlers, <code>context.call</code> does not have{' '}
      <code>{properties.join(', ')}</code>: the field was not found, or its value has another type.
      The service does not document the names of these fields, so the default names are guesses.
    </p>
    <p>
      The body has these fields: <code>{fields.join(', ')}</code>
    </p>
    <p>
      Set the <code>fieldNames</code> option of the receiver to the names that your service uses.
      The command <code>npx call-webhooks infer deliveries.jsonl</code> finds them in captured
      deliveries.{' '}
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
        {port?.status === 'unknown' && 'cannot be checked, because it has no ping()'}
        {port?.status === 'down' && `${sentence(port.error ?? '')} ${FIXES[name]}`}
        {!port && children}
      </span>
    </li>
  );
}
