import { part, setAttribute } from './dom/element.ts';
import { nextTheme, restoreTheme } from './dom/theme.ts';
import { detail } from './detail/detail.ts';
import { resend } from './detail/detail-head.ts';
import { Live } from './live/live.ts';
import type { Filter } from './model/filter.ts';
import { Store } from './model/store.ts';
import { callsPanel } from './panels/calls-panel.ts';
import { chaosPanel } from './panels/chaos-panel.ts';
import { outboxPanel } from './panels/outbox-panel.ts';
import { rulesPanel } from './panels/rules-panel.ts';
import { SECTIONS, tabs } from './panels/tabs.ts';
import { attempt } from './parts/action-button.ts';
import { tell } from './parts/notices.ts';
import { askForCall } from './parts/place-call.ts';
import { askForReset } from './parts/reset.ts';
import { listenForShortcuts, showShortcuts, type Shortcut } from './parts/shortcuts.ts';
import { keepTicking } from './parts/ticking.ts';
import { topBar, TURNS } from './parts/top-bar.ts';
import { filters } from './timeline/filters.ts';
import { pausedBanner } from './timeline/paused-banner.ts';
import { announceCounts, neighbour, timeline } from './timeline/timeline.ts';
import { welcome } from './timeline/welcome.ts';

restoreTheme();
const store = new Store();
const live = new Live(store);
const showSection = tabs(store);

function filterBy(filter: Filter): void {
  store.setFilter(filter);
  showSection('deliveries');
  void live.sync();
}

function choose(id: string | undefined): void {
  const before = store.selected;
  store.select(id);
  const row = document.querySelector<HTMLElement>(`.delivery[data-id="${id ?? before ?? ''}"]`);
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: 'nearest' });
}

const close = () => {
  choose(undefined);
};
const step = (by: 1 | -1) => () => {
  const next = neighbour(store, by);
  if (next !== undefined) choose(next);
};
const turn = (run: () => Promise<unknown>) => () => {
  void attempt(run);
};
const changeTheme = () => {
  tell(`Theme: ${nextTheme()}.`);
};

topBar(store);
rulesPanel(store, ({ _id }) => {
  filterBy({ ruleId: _id });
});
callsPanel(store, ({ _id }) => {
  filterBy({ callId: _id });
});
outboxPanel(store);
chaosPanel(store);
filters(store, filterBy);
pausedBanner(store);
welcome(store);
timeline(store, (id, byKeyboard) => {
  choose(id);
  if (byKeyboard) focusDetail();
});
announceCounts(store);
const focusDetail = detail(store, {
  close,
  showCall(callId) {
    filterBy({ callId });
  },
});
keepTicking(store);

const shortcuts: Shortcut[] = [
  { key: 'c', does: 'Place a call', run: askForCall },
  { key: 'j', does: 'The next delivery', run: step(1) },
  { key: 'k', does: 'The delivery before', run: step(-1) },
  {
    key: 'r',
    does: 'Resend the chosen delivery',
    run: () => store.selected && attempt(() => resend(store.selected ?? '', store)),
  },
  { key: 'Escape', does: 'Close the chosen delivery', run: close },
  { key: 'n', does: 'Turn the clock to what is due next', run: turn(TURNS.next) },
  { key: 'a', does: 'Turn the clock five minutes ahead', run: turn(TURNS.fiveMinutes) },
  { key: 'i', does: 'Turn the clock until idle', run: turn(TURNS.untilIdle) },
  {
    key: '/',
    does: 'Go to the filters',
    run: () => document.querySelector<HTMLElement>('.chip[aria-pressed=true]')?.focus(),
  },
  ...SECTIONS.map((section, index) => ({
    key: String(index + 1),
    does: `Show ${section}`,
    run: () => {
      showSection(section);
      part(section === 'deliveries' ? 'timeline' : `tab-${section}`).focus({ preventScroll: true });
    },
  })),
  { key: 't', does: 'Light, dark, or as the system has it', run: changeTheme },
  {
    key: '?',
    does: 'Show this list',
    run: () => {
      showShortcuts(shortcuts);
    },
  },
];
listenForShortcuts(shortcuts);
part('place-call').addEventListener('click', askForCall);
part('theme').addEventListener('click', changeTheme);
part('help').addEventListener('click', () => {
  showShortcuts(shortcuts);
});
part('reset').addEventListener('click', () => {
  askForReset(store);
});
store.subscribe(() => {
  setAttribute(document.body, 'data-ready', store.policy !== undefined);
});
live.open();
