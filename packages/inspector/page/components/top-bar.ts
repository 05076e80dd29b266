import { setChildren, h, byId, setAttribute, setText } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import { callApi } from '../live/api.ts';
import type { Connection, Store } from '../model/store.ts';
import { day, moment, timeOfDay } from '../model/time.ts';
import { actionButton } from './action-button.ts';
import { openDialog } from './dialog.ts';
import { notify } from './notices.ts';
import { countdown } from './times.ts';

const CONNECTION: Readonly<Record<Connection, string>> = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'Connection lost, reconnecting …',
};

/** The ways to advance the clock. A real clock also passes by itself. */
export const ADVANCE = {
  next: () => callApi('POST', '/clock/next'),
  fiveMinutes: () => callApi('POST', '/clock/advance', { by: '5m' }),
  untilIdle: () => callApi('POST', '/clock/run-until-idle'),
} as const;

/** The connection and the clock. */
export function topBar(store: Store): void {
  const time = h('span', { class: 'clock-time' });
  const next = h('span', { class: 'clock-next' });
  const turns = h(
    'div',
    { class: 'button-group', role: 'group', 'aria-label': 'Advance the clock' },
    actionButton(
      {
        label: 'Next',
        icon: 'skip',
        class: 'button small',
        title: 'Advance the clock to the next due time (n)',
      },
      ADVANCE.next,
    ),
    actionButton(
      {
        label: '+5 min',
        icon: 'forward',
        class: 'button small',
        title: 'Advance the clock by five minutes (a)',
      },
      ADVANCE.fiveMinutes,
    ),
    actionButton(
      {
        label: 'Until idle',
        icon: 'idle',
        class: 'button small',
        title: 'Advance the clock until nothing is left to do (i)',
      },
      ADVANCE.untilIdle,
    ),
  );
  setChildren(byId('clock'), icon('clock'), h('div', { class: 'clock-text' }, time, next), turns);

  let due: number | null | undefined;
  const tick = () => {
    const { clock } = store;
    if (!clock) return;
    const now = store.now();
    setText(time, timeOfDay(now));
    setAttribute(time, 'title', `${moment(now)} (${clock.mode} clock)`);
    if (due === clock.nextDueAt && next.childNodes.length > 0) return;
    due = clock.nextDueAt;
    setChildren(
      next,
      h('span', { class: 'clock-day' }, `${day(now)} · `),
      due === null ? 'nothing is due' : ['next ', countdown(due)],
    );
  };
  store.subscribe(() => {
    const connection = byId('connection');
    setAttribute(connection, 'data-connection', store.connection);
    setText(byId('connection-text'), CONNECTION[store.connection]);
    setAttribute(connection, 'title', store.seed && `Seed ${store.seed}`);
    tick();
  });
  setInterval(tick, 1_000);
}

/** Asks before it resets the simulator. */
export function openResetDialog(store: Store): void {
  const text = 'This removes all rules, secrets, calls, deliveries, emails and messages.';
  const content = [h('p', null, text)];
  openDialog({ title: 'Reset the simulator?', go: 'Reset', danger: true, content }, async () => {
    await callApi('POST', '/reset');
    store.select(undefined);
    store.setFilter({});
    notify('The simulator was reset.');
  });
}
