import { ActionButton, counted, Countdown, Icon, span, Time } from '@call-webhooks/ui';
import type { Call, Mail } from '@call-webhooks/simulator/control-api';
import { callApi } from '../state/api.ts';
import { filterBy, now, store } from '../state/store.ts';

const SHOWN = 100;

/** The latest calls, newest first. Selecting one shows its events. */
export function CallsPanel() {
  const { counts } = store.state;
  const calls = store.state.calls.slice(-SHOWN).reverse();
  return (
    <>
      <h2 class="visually-hidden">Calls</h2>
      <ul class="rows" aria-label="Calls">
        {calls.map((call) => (
          <CallRow key={call._id} call={call} />
        ))}
      </ul>
      {calls.length === 0 && <p class="none">No calls yet. Place one: press c.</p>}
      <Older count={counts.calls - calls.length} what="older call" />
    </>
  );
}

/** How many there are besides those that are shown. */
const Older = ({ count, what }: { readonly count: number; readonly what: string }) =>
  count > 0 ? <p class="none">{`… and ${counted(count, what)}`}</p> : null;

function CallRow({ call }: { readonly call: Call }) {
  return (
    <li>
      <button
        type="button"
        class="row"
        title="Show the events of this call"
        onClick={() => filterBy({ callId: call._id })}
      >
        <span class="row-title">
          <Icon name="phone" />
          {call.calledName ?? call.calledNumber}
        </span>
        <span class="row-note">{call.calledName === undefined ? '' : call.calledNumber}</span>
        <span class="row-note">
          <Time at={call.dialedAt} /> · <Progress call={call} />
        </span>
      </button>
      <div class="row-side">
        {call.state === 'ongoing' && (
          <ActionButton
            label="End"
            title="End this call now"
            small
            run={() => callApi('POST', `/calls/${call._id}/end`)}
          />
        )}
      </div>
    </li>
  );
}

function Progress({ call }: { readonly call: Call }) {
  const { dialedAt, endedAt, plannedMs, recorded, recording } = call;
  if (endedAt === undefined)
    return (
      <>
        <strong class="ongoing">ongoing</strong>
        {plannedMs !== undefined && (
          <>
            , ends <Countdown at={dialedAt + plannedMs} now={now} />
          </>
        )}
      </>
    );
  const tape = recording ? 'recording available' : recorded ? 'recording pending' : 'not recorded';
  return <>{`${span(endedAt - dialedAt)} · ${tape}`}</>;
}

/** The emails that the service would have sent, newest first. */
export function OutboxPanel() {
  const { counts, outbox } = store.state;
  const mails = outbox.slice(-SHOWN).reverse();
  return (
    <>
      <h2 class="visually-hidden">Outbox</h2>
      <ul class="cards" aria-label="Emails">
        {mails.map((mail) => (
          <MailCard key={mail._id} mail={mail} />
        ))}
      </ul>
      {mails.length === 0 && (
        <p class="none">No emails yet. The service sends one when it pauses a rule.</p>
      )}
      <Older count={counts.mails - mails.length} what="older email" />
    </>
  );
}

const MailCard = ({ mail: { subject, to, text, sentAt } }: { readonly mail: Mail }) => (
  <li class="card">
    <div class="card-head">
      <h3>{subject}</h3>
      <Time at={sentAt} class="hint" />
    </div>
    <p class="hint">{`To ${to.join(', ')}`}</p>
    <p>{text}</p>
  </li>
);
