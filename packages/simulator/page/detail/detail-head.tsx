import {
  ActionButton,
  Badge,
  Button,
  Countdown,
  fieldValue,
  openForm,
  Time,
} from '@call-webhooks/ui';
import type { DeliveryView } from '@call-webhooks/simulator/control-api';
import type { ComponentChildren } from 'preact';
import { BodyField } from '../panels/rule-forms.tsx';
import { nextAttempt, stateReason, STATES } from '../state/labels.ts';
import { callName, choose, filterBy, now, resend, store } from '../state/page-state.ts';
import { download, harOf } from './export.ts';

/** Asks for another body and sends it as a new delivery. */
const edit = ({ _id, body }: DeliveryView): void =>
  openForm({
    title: 'Edit and resend',
    go: 'Resend',
    wide: true,
    content: <BodyField body={JSON.parse(body) as unknown} />,
    run: (form) => resend(_id, fieldValue(form, 'body')),
  });

interface PartProps {
  readonly delivery: DeliveryView;
}

/** The event and what can be done with it. */
export const Head = ({ delivery }: PartProps) => (
  <div class="detail-title">
    <h2 tabIndex={-1} id="detail-title" data-id={delivery._id}>
      <span class="event">{delivery.eventName}</span>{' '}
      <span class="number">{`#${String(delivery.number)}`}</span>
    </h2>
    <div class="buttons">
      <ActionButton
        label="Resend"
        icon="again"
        small
        title="Send this event again, as a new delivery (r)"
        run={() => resend(delivery._id)}
      />
      <Button
        label="Edit"
        small
        title="Edit the body and send it as a new delivery"
        onClick={() => {
          edit(delivery);
        }}
      />
      <Button
        label="Close"
        title="Close (Esc)"
        icon="cross"
        iconOnly
        kind="ghost"
        small
        onClick={() => {
          choose(undefined);
        }}
      />
    </div>
  </div>
);

/** The state and its reason, and the next attempt. */
export function Story({ delivery }: PartProps) {
  const { policy } = store;
  const { label, icon, tone } = STATES[delivery.state];
  return (
    <p class="story">
      <Badge tone={tone} icon={icon}>
        {label}
      </Badge>
      <span>{policy ? stateReason(delivery, policy) : ''}</span>
      {delivery.nextAttemptAt !== undefined && policy && (
        <span class="next">
          {`Attempt ${nextAttempt(delivery, policy)} is due `}
          <Countdown at={delivery.nextAttemptAt} now={now} />, at{' '}
          <Time at={delivery.nextAttemptAt} />.
        </span>
      )}
    </p>
  );
}

/** What the delivery belongs to. */
export function Properties({ delivery }: PartProps) {
  const { callId, ruleId, ruleName, url, createdAt, _id, copyOf, copiedBy } = delivery;
  const rule = store.rule(ruleId);
  return (
    <dl class="properties">
      <Property name="Receiver">{url ?? 'the action was removed'}</Property>
      <Property name="Call">
        <Button
          kind="link"
          label={callName(callId, delivery.callName)}
          title="Show all deliveries of this call"
          onClick={() => {
            filterBy({ callId });
          }}
        />
      </Property>
      <Property name="Rule">
        {`${rule?.name ?? ruleName ?? ruleId}${rule?.state === 'paused' ? ' (paused)' : ''}`}
      </Property>
      <Property name="Created">
        <Time at={createdAt} />
      </Property>
      <Property name="Id">
        <code>{_id}</code>
      </Property>
      <Property name="Export">
        <Button
          kind="link"
          label="JSON"
          title="Save the delivery with all attempts"
          onClick={() => {
            download(`delivery-${String(delivery.number)}.json`, delivery);
          }}
        />
        {' · '}
        <Button
          kind="link"
          label="HAR"
          title="Save the attempts as an HTTP archive"
          onClick={() => {
            download(`delivery-${String(delivery.number)}.har`, harOf(delivery));
          }}
        />
      </Property>
      {copyOf !== undefined && (
        <Property name="Copy of">
          <code>{copyOf}</code>
          {copiedBy === 'resend' ? ', resent' : ', made by chaos'}
        </Property>
      )}
    </dl>
  );
}

const Property = (props: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{props.name}</dt>
    <dd>{props.children}</dd>
  </div>
);
