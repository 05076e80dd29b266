import '@call-webhooks/ui/style.css';
import './style/index.css';
import {
  attempt,
  listenForShortcuts,
  nextTheme,
  Notices,
  openDialog,
  restoreTheme,
  ShortcutsDialog,
  TabList,
  TabPanel,
  type Shortcut,
  type Tab,
} from '@call-webhooks/ui';
import { render } from 'preact';
import { Events } from './events/events.tsx';
import { Detail, focusDetail } from './detail/detail.tsx';
import { openCallDialog } from './forms.tsx';
import { CallsPanel, OutboxPanel } from './panels/calls-panel.tsx';
import { ChaosPanel } from './panels/chaos-panel.tsx';
import { RulesPanel } from './panels/rules-panel.tsx';
import { ADVANCE } from './state/api.ts';
import { choose, neighbour, resend, SECTIONS, store, type Section } from './state/store.ts';
import { Top } from './top-bar.tsx';

const step = (by: 1 | -1) => () => {
  const next = neighbour(by);
  if (next !== undefined) choose(next);
};

const shortcuts: Shortcut[] = [
  { key: 'c', does: 'Place a call', run: openCallDialog },
  { key: 'j', does: 'Next event', run: step(1) },
  { key: 'k', does: 'Previous event', run: step(-1) },
  {
    key: 'r',
    does: 'Resend the selected event',
    run() {
      const { selected } = store;
      return selected === undefined ? undefined : attempt(() => resend(selected));
    },
  },
  { key: 'Escape', does: 'Close the selected event', run: () => choose(undefined) },
  {
    key: 'n',
    does: 'Advance the clock to the next due time',
    run: () => attempt(ADVANCE.next),
  },
  {
    key: 'a',
    does: 'Advance the clock by six minutes',
    run: () => attempt(ADVANCE.sixMinutes),
  },
  {
    key: 'i',
    does: 'Advance the clock until nothing is due',
    run: () => attempt(ADVANCE.untilIdle),
  },
  {
    key: '/',
    does: 'Search the events',
    run: () => document.getElementById('search')?.focus(),
  },
  ...SECTIONS.map((section, index) => ({
    key: String(index + 1),
    does: `Show ${section}`,
    run() {
      store.show(section);
      draw(); // now, so that the next key finds the section
      const id = section === 'events' ? 'timeline' : `tab-${section}`;
      document.getElementById(id)?.focus({ preventScroll: true });
    },
  })),
  { key: 't', does: 'Switch the theme: light, dark or system', run: nextTheme },
  { key: '?', does: 'Show this list', run: showHelp },
];

/** What the browser does by itself: an event is a button. */
const enter: Shortcut = {
  key: 'Enter',
  does: 'Go to the details of the event',
  run: () => undefined,
};

function showHelp(): void {
  const listed = shortcuts.flatMap((one) => (one.key === 'k' ? [one, enter] : [one]));
  openDialog((remove) => <ShortcutsDialog shortcuts={listed} onClose={remove} />);
}

/** The whole page. */
function App() {
  const { section, selected } = store;
  return (
    <div class="app" data-section={section} data-detail={selected === undefined ? undefined : ''}>
      <a class="skip" href="#timeline">
        Skip to the events
      </a>
      <Top showHelp={showHelp} />
      <main>
        <div class="side">
          <TabList
            label="Parts of the simulator"
            tabs={tabs()}
            current={section}
            onChange={(id) => store.show(id)}
          />
          <TabPanel id="rules">
            <RulesPanel />
          </TabPanel>
          <TabPanel id="calls">
            <CallsPanel />
          </TabPanel>
          <TabPanel id="outbox" scrolls>
            <OutboxPanel />
          </TabPanel>
          <TabPanel id="chaos">
            <ChaosPanel />
          </TabPanel>
        </div>
        <Events onChoose={chooseRow} />
        {selected !== undefined && <Detail id={selected} />}
      </main>
      <Notices />
    </div>
  );
}

function chooseRow(id: string, byKeyboard: boolean): void {
  choose(id);
  if (byKeyboard) focusDetail(id);
}

function tabs(): Tab<Section>[] {
  const { rules, counts, chaos } = store.state;
  const paused = rules.filter(({ state }) => state === 'paused').length;
  const modes = Object.values(chaos).filter((probability) => probability > 0).length;
  const events = Object.values(counts.events).reduce((sum, count) => sum + count, 0);
  return [
    { id: 'events', label: 'Events', count: events },
    {
      id: 'rules',
      label: 'Rules',
      count: rules.length,
      suffix: paused > 0 ? `(${String(paused)} paused)` : undefined,
    },
    { id: 'calls', label: 'Calls', count: counts.calls },
    { id: 'outbox', label: 'Outbox', count: counts.mails },
    { id: 'chaos', label: 'Chaos', count: modes, suffix: 'on' },
  ];
}

function draw(): void {
  const root = document.getElementById('app');
  if (!root || !store.isReady) return;
  render(<App />, root);
  if ('ready' in document.body.dataset) return;
  document.body.dataset['ready'] = '';
  listenForShortcuts(shortcuts);
}

restoreTheme();
store.start(draw);
