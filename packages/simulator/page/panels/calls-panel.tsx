import { ActionButton, attempt, Button, Countdown, Icon, span, Time } from '@call-webhooks/ui';
import type { Call, Mail } from '@call-webhooks/simulator/control-api';
import { useEffect, useState } from 'preact/hooks';
import { filterBy } from '../state/actions.ts';
import { callApi, queryOf } from '../state/api.ts';
import { now, store } from '../state/store.ts';

const SHOWN = 100;

/** The calls, newest first. Selecting one shows its deliveries. */
export function CallsPanel() {
  const [q, setQ] = useState('');
  const [limit, setLimit] = useState(SHOWN);
  const { counts, calls: known } = store.state;
  const calls = useCalls(q, limit) ?? known.slice(-SHOWN).reverse();
  const more = q === '' ? counts.calls - calls.length : 0;
  return (
    <>
      <h2 class="visually-hidden">Calls</h2>
      {counts.calls > 0 && (
        <input
          class="search"
          type="search"
          aria-label="Search the calls"
          placeholder="Name, number or id"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            setQ(currentTarget.value.trim());
          }}
        />
      )}
      <ul class="rows" aria-label="Calls">
        {calls.map((call) => (
          <CallRow key={call._id} call={call} />
        ))}
      </ul>
      {calls.length === 0 && (
        <p class="none">
          {q === '' ? 'No calls yet. Place one: press c.' : 'No call matches this search.'}
        </p>
      )}
      {(more > 0 || (q !== '' && calls.length >= limit)) && (
        <p class="none">
          <Button
            label="Show older calls"
            small
            onClick={() => {
              setLimit(limit + SHOWN);
            }}
          />
        </p>
      )}
    </>
  );
}

/** The calls that the page does not hold; `undefined` where the latest suffice. */
function useCalls(q: string, limit: number): Call[] | undefined {
  const [found, setFound] = useState<Call[]>();
  const beyond = q !== '' || limit > SHOWN;
  const { calls } = store.state.counts;
  useEffect(() => {
    if (!beyond) return undefined;
    let stale = false;
    void attempt(async () => {
      const rows = await callApi<Call[]>('GET', `/calls?${queryOf({ q, limit })}`);
      if (!stale) setFound(rows.reverse());
    });
    return () => {
      stale = true;
    };
  }, [q, limit, beyond, calls]);
  return beyond ? found?.map((call) => store.call(call._id) ?? call) : undefined;
}

function CallRow({ call }: { readonly call: Call }) {
  return (
    <li>
      <button
        type="button"
        class="row"
        title="Show the deliveries of this call"
        onClick={() => {
          filterBy({ callId: call._id });
        }}
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
        <p class="none">No emails. The owner gets one when a rule is paused.</p>
      )}
      {counts.mails > mails.length && (
        <p class="none">{`… and ${(counts.mails - mails.length).toLocaleString()} older emails`}</p>
      )}
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
