import { ActionButton, Button, counted, Icon } from '@call-webhooks/ui';
import type { Rule } from '@call-webhooks/simulator/control-api';
import { useEffect, useState } from 'preact/hooks';
import { ForwardForm, openCallDialog } from '../forms.tsx';
import { callApi } from '../state/api.ts';
import { PAUSE_REASONS, shortUrl, urlsOf } from '../state/labels.ts';
import { callName, store } from '../state/store.ts';
import { EventRow } from './event-row.tsx';
import { Filters } from './filters.tsx';

interface EventsProps {
  readonly onChoose: (id: string, byKeyboard: boolean) => void;
}

/** The paused rules, the filters and the events; the first steps while there are none. */
export function Events({ onChoose }: EventsProps) {
  const { state, events, outcomes, selected, older } = store;
  const some = Object.values(state.counts.events).some((count) => count > 0);
  return (
    <section class="stream" id="panel-events" aria-label="Events">
      <h2 class="visually-hidden">Events</h2>
      <PausedBanner />
      {some && <Filters />}
      {!some && <Welcome />}
      <div id="timeline" tabIndex={-1}>
        <ol class="rows timeline" aria-label="Events, newest first" reversed>
          {events.map((event) => (
            <EventRow
              key={event._id}
              event={event}
              selected={event._id === selected}
              callName={callName(event.callId, event.callName)}
              policy={state.policy}
              outcomes={outcomes}
              onChoose={onChoose}
            />
          ))}
        </ol>
        {events.length === 0 && store.isFiltered && (
          <p class="none">No event matches these filters.</p>
        )}
        {older > 0 && (
          <p class="none">
            {`${counted(older, 'older event')} `}
            <Button label="Show more" small onClick={() => store.showMore()} />
          </p>
        )}
      </div>
      <Announcer />
    </section>
  );
}

/** A rule and where it sends to. */
const nameOf = ({ name, actions }: Rule): string =>
  [
    `“${name}”`,
    ...(actions.length > 0 ? ['to', urlsOf(actions).map(shortUrl).join(', ')] : []),
  ].join(' ');

/** The paused rules. Screen readers announce a rule that gets paused. */
function PausedBanner() {
  const paused = store.state.rules.filter(({ state }) => state === 'paused');
  const [first] = paused;
  const one = paused.length === 1 ? first : undefined;
  const then = store.state.policy.whilePaused === 'hold' ? 'held' : 'dropped';
  const text = one
    ? `${nameOf(one)} is paused: ${PAUSE_REASONS[one.pauseReason ?? 'by-hand']}. Its events are ${then} until you resume it.`
    : `${String(paused.length)} rules are paused.`;
  return (
    <div class="banner" id="paused" role="status" hidden={!first}>
      {first && (
        <>
          <Icon name="pause" />
          <p>{text}</p>
          <ActionButton
            label={one ? 'Resume' : 'Resume all'}
            icon="forward"
            small
            run={() =>
              Promise.all(paused.map(({ _id }) => callApi('POST', `/rules/${_id}/resume`)))
            }
          />
        </>
      )}
    </div>
  );
}

/** The first steps. */
function Welcome() {
  const ready = store.state.rules.length > 0;
  return (
    <div class="welcome" id="welcome">
      <h2>No events yet</h2>
      <p class="lead">
        The simulator is a local copy of the calling service. Three steps to the first webhook:
      </p>
      <ol class="steps">
        <li data-done={ready ? '' : undefined}>
          <h3>Enter the URL of your receiver</h3>
          <p class="hint">
            It gets call:started, call:completed and call:recording-available, each of them signed.
          </p>
          <ForwardForm primary={!ready} />
        </li>
        <li>
          <h3>Configure the signing secrets</h3>
          <p class="hint">
            Show or copy them in the list of rules. A receiver accepts several at once.
          </p>
        </li>
        <li>
          <h3>Place a call</h3>
          <p class="hint">The events of the call appear here, with every attempt and response.</p>
          <Button
            label="Place a call"
            icon="phone"
            kind={ready ? 'primary' : 'normal'}
            onClick={openCallDialog}
          />
        </li>
      </ol>
    </div>
  );
}

/** Announces the counts to screen readers, a second after they changed. */
function Announcer() {
  const [told, tell] = useState('');
  const now = Object.entries(store.state.counts.events)
    .map(([state, count]) => `${String(count)} ${state}`)
    .join(', ');
  useEffect(() => {
    const timer = setTimeout(() => {
      if (now !== '') tell(`Events: ${now}.`);
    }, 1_000);
    return () => {
      clearTimeout(timer);
    };
  }, [now]);
  return (
    <p class="visually-hidden" id="announcer" role="status">
      {told}
    </p>
  );
}
