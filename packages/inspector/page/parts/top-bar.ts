import { fill, h, part, setAttribute, write } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import { ask } from '../live/ask.ts';
import type { Connection, Store } from '../model/store.ts';
import { day, moment, timeOfDay } from '../model/time.ts';
import { actionButton } from './action-button.ts';
import { countdown } from './ticking.ts';

const CONNECTION: Readonly<Record<Connection, string>> = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'Connection lost, trying again …',
};

/** The ways to turn the clock: a real one passes by itself, and can be turned ahead too. */
export const TURNS = {
  next: () => ask('POST', '/clock/next'),
  fiveMinutes: () => ask('POST', '/clock/advance', { by: '5m' }),
  untilIdle: () => ask('POST', '/clock/run-until-idle'),
} as const;

/** Whether all is well, and what time it is in the simulator. */
export function topBar(store: Store): void {
  const time = h('span', { class: 'clock-time' });
  const next = h('span', { class: 'clock-next' });
  const turns = h(
    'div',
    { class: 'button-group', role: 'group', 'aria-label': 'Turn the clock' },
    actionButton(
      {
        label: 'Next',
        icon: 'skip',
        class: 'button small',
        title: 'Turn the clock to what is due next (n)',
      },
      TURNS.next,
    ),
    actionButton(
      {
        label: '+5 min',
        icon: 'forward',
        class: 'button small',
        title: 'Turn the clock five minutes ahead (a)',
      },
      TURNS.fiveMinutes,
    ),
    actionButton(
      {
        label: 'Until idle',
        icon: 'idle',
        class: 'button small',
        title: 'Turn the clock until nothing is left to do (i)',
      },
      TURNS.untilIdle,
    ),
  );
  fill(part('clock'), icon('clock'), h('div', { class: 'clock-text' }, time, next), turns);

  let due: number | null | undefined;
  const tick = () => {
    const { clock } = store;
    if (!clock) return;
    const now = store.now();
    write(time, timeOfDay(now));
    setAttribute(time, 'title', `${moment(now)} (${clock.mode} clock)`);
    if (due === clock.nextDueAt && next.childNodes.length > 0) return;
    due = clock.nextDueAt;
    fill(
      next,
      h('span', { class: 'clock-day' }, `${day(now)} · `),
      due === null ? 'nothing is due' : ['next ', countdown(due)],
    );
  };
  store.subscribe(() => {
    const connection = part('connection');
    setAttribute(connection, 'data-connection', store.connection);
    write(part('connection-text'), CONNECTION[store.connection]);
    setAttribute(connection, 'title', store.seed && `Seed ${store.seed}`);
    tick();
  });
  setInterval(tick, 1_000);
}
