import { h } from '../dom/element.ts';
import { ask } from '../live/ask.ts';
import type { Store } from '../model/store.ts';
import { askUser } from './dialog.ts';
import { tell } from './notices.ts';

/** Asks whether everything is to be forgotten. */
export function askForReset(store: Store): void {
  const text = 'Rules and their secrets, calls, deliveries, mails and messages are forgotten.';
  const content = [h('p', null, text)];
  askUser({ title: 'Reset the simulator?', go: 'Reset', danger: true, content }, async () => {
    await ask('POST', '/reset');
    store.select(undefined);
    store.setFilter({});
    tell('The simulator was reset.');
  });
}
