import { setChildren, h, byId } from '../dom/element.ts';
import { KeyedList } from '../dom/keyed-list.ts';
import type { Mail } from '@call-webhooks/simulator/control-api';
import type { Store } from '../model/store.ts';
import { clockTime } from '../components/times.ts';
import { olderNote } from '../dom/keyed-list.ts';

const SHOWN = 100;

/** The emails that the service would have sent, newest first. */
export function outboxPanel(store: Store): void {
  const list = h('ul', { class: 'cards', 'aria-label': 'Emails' });
  const none = h('p', { class: 'none' }, 'No emails. The owner gets one when a rule is paused.');
  const older = olderNote('emails');
  setChildren(byId('panel-outbox'), list, none, older.element);
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
