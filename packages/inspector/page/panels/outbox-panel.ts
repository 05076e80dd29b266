import { fill, h, part } from '../dom/element.ts';
import { KeyedList } from '../dom/keyed-list.ts';
import type { Mail } from '@call-webhooks/simulator/control-api';
import type { Store } from '../model/store.ts';
import { clockTime } from '../parts/ticking.ts';
import { olderNote } from './older-note.ts';

const SHOWN = 100;

/** The mails that the service would have sent, the newest first. */
export function outboxPanel(store: Store): void {
  const list = h('ul', { class: 'cards', 'aria-label': 'Mails' });
  const none = h('p', { class: 'none' }, 'No mails. When a rule is paused, its owner gets one.');
  const older = olderNote('mails');
  fill(part('panel-outbox'), list, none, older.element);
  const rows = new KeyedList<Mail>(
    list,
    ({ _id }) => _id,
    (mail) => ({
      element: mailCard(mail),
      update: () => undefined,
    }),
  );
  store.subscribe(() => {
    const mails = store.mails().slice(0, SHOWN);
    rows.render(mails);
    none.hidden = mails.length > 0;
    older.say(store.counts.mails - mails.length);
  });
}

const mailCard = ({ subject, to, text, sentAt }: Mail): HTMLElement =>
  h(
    'li',
    { class: 'card' },
    h('div', { class: 'card-head' }, h('h3', null, subject), clockTime(sentAt, 'hint')),
    h('p', { class: 'hint' }, `To ${to.join(', ')}`),
    h('p', null, text),
  );
