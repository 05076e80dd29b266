import '@call-webhooks/ui/style.css';
import './style/index.css';
import {
  attempt,
  listenForShortcuts,
  nextTheme,
  openDialog,
  restoreTheme,
  ShortcutsDialog,
  type Shortcut,
} from '@call-webhooks/ui';
import { render } from 'preact';
import { App } from './app.tsx';
import { openCallDialog } from './forms.tsx';
import { choose, neighbour, resend } from './state/actions.ts';
import { ADVANCE } from './state/api.ts';
import { SECTIONS, store } from './state/store.ts';

const step = (by: 1 | -1) => () => {
  const next = neighbour(by);
  if (next !== undefined) choose(next);
};

const shortcuts: Shortcut[] = [
  { key: 'c', does: 'Place a call', run: openCallDialog },
  { key: 'j', does: 'Next delivery', run: step(1) },
  { key: 'k', does: 'Previous delivery', run: step(-1) },
  {
    key: 'r',
    does: 'Resend the selected delivery',
    run() {
      const { selected } = store;
      return selected === undefined ? undefined : attempt(() => resend(selected));
    },
  },
  { key: 'Escape', does: 'Close the selected delivery', run: () => choose(undefined) },
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
  { key: 'i', does: 'Advance the clock until idle', run: () => attempt(ADVANCE.untilIdle) },
  {
    key: '/',
    does: 'Search the deliveries',
    run: () => document.getElementById('search')?.focus(),
  },
  ...SECTIONS.map((section, index) => ({
    key: String(index + 1),
    does: `Show ${section}`,
    run() {
      store.show(section);
      draw(); // now, so that the next key finds the section
      const id = section === 'deliveries' ? 'timeline' : `tab-${section}`;
      document.getElementById(id)?.focus({ preventScroll: true });
    },
  })),
  { key: 't', does: 'Switch the theme: light, dark or system', run: nextTheme },
  { key: '?', does: 'Show this list', run: showHelp },
];

/** What the browser does by itself: a delivery is a button. */
const enter: Shortcut = {
  key: 'Enter',
  does: 'Go to the details of the delivery',
  run: () => undefined,
};

function showHelp(): void {
  const listed = shortcuts.flatMap((one) => (one.key === 'k' ? [one, enter] : [one]));
  openDialog((remove) => <ShortcutsDialog shortcuts={listed} onClose={remove} />);
}

const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '';

function draw(): void {
  const root = document.getElementById('app');
  if (!root || !store.isReady) return;
  render(<App icon={icon} showHelp={showHelp} />, root);
  if ('ready' in document.body.dataset) return;
  document.body.dataset['ready'] = '';
  listenForShortcuts(shortcuts);
}

restoreTheme();
store.start(draw);
