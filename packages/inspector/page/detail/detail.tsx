import { ActionButton, attempt, Badge, Button, Countdown, Time } from '@call-webhooks/ui';
import type { DeliveryView } from '@call-webhooks/simulator/control-api';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { fetchDelivery } from '../state/api.ts';
import { nextAttempt, stateReason, STATES } from '../state/labels.ts';
import { callName, choose, filterBy, now, resend, store } from '../state/page-state.ts';
import { lastAttempt } from '../state/receiver.ts';
import { AttemptCard } from './attempt-card.tsx';
import { OutcomeNote } from './outcome-note.tsx';

let wanted = false;
const title = () => document.getElementById('detail-title');

/** Moves the focus to the details of a delivery, as soon as they are there. */
export function focusDetail(id: string): void {
  wanted = true;
  if (title()?.dataset['id'] === id) takeFocus();
}

function takeFocus(): void {
  if (wanted) title()?.focus();
  wanted = false;
}

/** The delivery with its bodies. The last one stays until the next has arrived. */
function useDelivery(id: string): DeliveryView | undefined {
  const [delivery, setDelivery] = useState<DeliveryView>();
  const latest = useRef(0);
  const asked = useRef(0);
  const summary = store.deliveries.get(id);
  useEffect(() => {
    const turn = ++asked.current;
    void attempt(async () => {
      const found = await fetchDelivery(id);
      if (store.selected !== id || turn < latest.current) return;
      latest.current = turn;
      setDelivery(found);
    });
  }, [id, summary]);
  return delivery;
}

/** The selected delivery with all its attempts. */
export function Detail({ id }: { readonly id: string }) {
  const pane = useRef<HTMLElement>(null);
  const delivery = useDelivery(id);
  const before = useRef<DeliveryView | undefined>(undefined);
  // The newest attempt is unfolded when the delivery is shown, or has its first attempt.
  const opens = before.current?._id !== delivery?._id || before.current?.attempts.length === 0;
  useLayoutEffect(() => {
    if (!delivery) return;
    if (before.current?._id !== delivery._id && pane.current) pane.current.scrollTop = 0;
    before.current = delivery;
    if (delivery._id === id) takeFocus();
  }, [delivery, id]);
  const attempts = [...(delivery?.attempts ?? [])].reverse();
  return (
    <section
      class="detail"
      id="detail"
      aria-labelledby="detail-title"
      hidden={!delivery}
      ref={pane}
    >
      {delivery && (
        <>
          <div class="detail-head">
            <Head delivery={delivery} />
            <Story delivery={delivery} />
            <OutcomeNote last={lastAttempt(delivery.attempts)} outcomes={store.outcomes} />
            <Properties delivery={delivery} />
          </div>
          <ol class="attempts" aria-label="Attempts, newest first" reversed key={delivery._id}>
            {attempts.map((one, at) => (
              <AttemptCard
                key={`${one.kind} ${String(one.number)}`}
                attempt={one}
                opens={opens && at === 0}
              />
            ))}
          </ol>
          {attempts.length === 0 && <p class="none">Nothing has been sent yet.</p>}
        </>
      )}
    </section>
  );
}

interface PartProps {
  readonly delivery: DeliveryView;
}

const Head = ({ delivery: { _id, eventName, number } }: PartProps) => (
  <div class="detail-title">
    <h2 tabIndex={-1} id="detail-title" data-id={_id}>
      <span class="event">{eventName}</span> <span class="number">{`#${String(number)}`}</span>
    </h2>
    <div class="buttons">
      <ActionButton
        label="Resend"
        icon="again"
        small
        title="Send this event again, as a new delivery (r)"
        run={() => resend(_id)}
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
function Story({ delivery }: PartProps) {
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

function Properties({ delivery }: PartProps) {
  const { callId, ruleId, ruleName, url, createdAt, _id, copyOf, copiedBy } = delivery;
  const rule = store.rule(ruleId);
  return (
    <dl class="properties">
      <Property name="Receiver">{url ?? 'the action was removed'}</Property>
      <Property name="Call">
        <Button
          kind="link"
          label={callName(callId)}
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
