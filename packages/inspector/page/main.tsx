import './style/index.css';
import { byId, setAttribute } from './dom/element.ts';
import { nextTheme, restoreTheme } from './dom/theme.ts';
import { detail } from './detail/detail.ts';
import { resend } from './detail/detail-head.ts';
import { keepAddress } from './live/address.ts';
import { Live } from './live/live.ts';
import type { Filter } from './model/delivery-window.ts';
import { Store } from './model/store.ts';
import { callsPanel } from './panels/calls-panel.ts';
import { chaosPanel } from './panels/chaos-panel.ts';
import { outboxPanel } from './panels/outbox-panel.ts';
import { rulesPanel } from './panels/rules-panel.ts';
import { SECTIONS, tabs } from './panels/tabs.ts';
import { attempt } from './components/action-button.ts';
import { notify } from './components/notices.ts';
import { openCallDialog } from './components/place-call.ts';
import { openResetDialog } from './components/top-bar.ts';
import { listenForShortcuts, showShortcuts, type Shortcut } from './components/shortcuts.ts';
import { keepTicking } from './components/times.ts';
import { topBar, ADVANCE } from './components/top-bar.ts';
import { filters } from './timeline/filters.ts';
import { pausedBanner } from './timeline/paused-banner.ts';
import { announceCounts, neighbour, timeline } from './timeline/timeline.ts';
import { welcome } from './timeline/welcome.ts';

restoreTheme();
const store = new Store();
const live = new Live(store);
const showSection = tabs(store);
keepAddress(store, () => void live.sync());

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
const advance = (run: () => Promise<unknown>) => () => {
  void attempt(run);
};
const changeTheme = () => {
  notify(`Theme: ${nextTheme()}.`);
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
  { key: 'c', does: 'Place a call', run: openCallDialog },
  { key: 'j', does: 'Next delivery', run: step(1) },
  { key: 'k', does: 'Previous delivery', run: step(-1) },
  {
    key: 'r',
    does: 'Resend the selected delivery',
    run: () => store.selected && attempt(() => resend(store.selected ?? '', store)),
  },
  { key: 'Escape', does: 'Close the selected delivery', run: close },
  { key: 'n', does: 'Advance the clock to the next due time', run: advance(ADVANCE.next) },
  { key: 'a', does: 'Advance the clock by five minutes', run: advance(ADVANCE.fiveMinutes) },
  { key: 'i', does: 'Advance the clock until idle', run: advance(ADVANCE.untilIdle) },
  {
    key: '/',
    does: 'Focus the filters',
    run: () => document.querySelector<HTMLElement>('.chip[aria-pressed=true]')?.focus(),
  },
  ...SECTIONS.map((section, index) => ({
    key: String(index + 1),
    does: `Show ${section}`,
    run: () => {
      showSection(section);
      byId(section === 'deliveries' ? 'timeline' : `tab-${section}`).focus({ preventScroll: true });
    },
  })),
  { key: 't', does: 'Switch the theme: light, dark or system', run: changeTheme },
  {
    key: '?',
    does: 'Show this list',
    run: () => {
      showShortcuts(shortcuts);
    },
  },
];
listenForShortcuts(shortcuts);
byId('place-call').addEventListener('click', openCallDialog);
byId('theme').addEventListener('click', changeTheme);
byId('help').addEventListener('click', () => {
  showShortcuts(shortcuts);
});
byId('reset').addEventListener('click', () => {
  openResetDialog(store);
});
store.subscribe(() => {
  setAttribute(document.body, 'data-ready', store.policy !== undefined);
});
live.open();
