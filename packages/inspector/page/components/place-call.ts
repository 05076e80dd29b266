import { h } from '../dom/element.ts';
import { callApi } from '../live/api.ts';
import { openDialog } from './dialog.ts';
import { field, toggle, fieldValue } from './field.ts';
import { notify } from './notices.ts';

const MOST = 200;

/** Asks for the details of a call and places it. */
export function openCallDialog(): void {
  const content = [
    h(
      'p',
      { class: 'hint' },
      'It starts now and ends by itself, in the simulator’s time. Empty fields get invented values.',
    ),
    field('Number called', { name: 'number', type: 'tel', placeholder: '+1 555 0100' }),
    field('Name of the person', { name: 'name', placeholder: 'if known to the service' }),
    h(
      'div',
      { class: 'columns' },
      field('Duration in seconds', {
        name: 'seconds',
        type: 'number',
        value: 20,
        min: 0,
        max: 86_400,
        required: true,
      }),
      field('How many calls', {
        name: 'count',
        type: 'number',
        value: 1,
        min: 1,
        max: MOST,
        required: true,
      }),
    ),
    toggle('Recorded', { name: 'recorded', checked: true }),
  ];
  openDialog({ title: 'Place a call', go: 'Place', content }, placeCalls);
}

async function placeCalls(form: HTMLFormElement): Promise<void> {
  const call = {
    calledNumber: fieldValue(form, 'number'),
    calledName: fieldValue(form, 'name'),
    durationSeconds: Number(fieldValue(form, 'seconds')),
    recorded: fieldValue(form, 'recorded') !== undefined,
  };
  const count = Number(fieldValue(form, 'count'));
  for (let placed = 0; placed < count; placed++) await callApi('POST', '/calls', call);
  notify(count === 1 ? 'Call placed.' : `${String(count)} calls placed.`);
}
