import {
  ActionButton,
  Button,
  Countdown,
  day,
  Icon,
  moment,
  ThemeButton,
  timeOfDay,
  TopBar,
  useTick,
  zoneOf,
} from '@call-webhooks/ui';
import { openCallDialog, openResetDialog } from './forms.tsx';
import { ADVANCE } from './state/api.ts';
import { now, store } from './state/store.ts';

const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href;

/** The connection, the clock, and buttons for the whole simulator. */
export const Top = ({ showHelp }: { readonly showHelp: () => void }) => (
  <TopBar
    page="simulator"
    icon={<img src={icon} alt="" width={22} height={22} />}
    connection={store.connection}
    words={store.connection === 'live' ? 'Live' : 'Connection lost, reconnecting …'}
    title={`Seed ${store.state.seed}`}
  >
    <Clock />
    <div class="top-buttons">
      <Button
        id="place-call"
        label="Place a call"
        title="Place a call (c)"
        kind="primary"
        onClick={openCallDialog}
      />
      <Button
        id="reset"
        label="Reset"
        title="Remove all rules, secrets and records"
        onClick={openResetDialog}
      />
      <ThemeButton title="Light or dark (t)" />
      <button
        type="button"
        class="button square"
        title="Keyboard shortcuts (?)"
        aria-label="Keyboard shortcuts"
        onClick={showHelp}
      >
        ?
      </button>
    </div>
  </TopBar>
);

function Clock() {
  useTick();
  const { clock } = store.state;
  const time = now();
  return (
    <div class="clock" id="clock" role="group" aria-label="The simulator’s clock">
      <Icon name="clock" />
      <div class="clock-text">
        <span class="clock-time" title={`${moment(time)} (${clock.mode} clock)`}>
          {`${timeOfDay(time)} ${zoneOf(time)}`}
        </span>
        <span class="clock-next">
          <span class="clock-day">{day(time)} · </span>
          {clock.mode === 'manual' && (
            <span title="It does not move until you advance it.">manual · </span>
          )}
          {clock.nextDueAt === null ? (
            'nothing is due'
          ) : (
            <>
              next <Countdown at={clock.nextDueAt} now={now} />
            </>
          )}
        </span>
      </div>
      <div class="button-group" role="group" aria-label="Advance the clock">
        <ActionButton
          label="Next"
          icon="skip"
          small
          title="Advance the clock to the next due time (n)"
          run={ADVANCE.next}
        />
        <ActionButton
          label="+6 min"
          icon="forward"
          small
          title="Advance the clock by six minutes, so that retries are sent (a)"
          run={ADVANCE.sixMinutes}
        />
        <ActionButton
          label="Until idle"
          icon="idle"
          small
          title="Advance the clock until nothing is due (i)"
          run={ADVANCE.untilIdle}
        />
      </div>
    </div>
  );
}
