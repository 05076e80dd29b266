import { h } from '../dom/element.ts';
import { ask } from '../live/ask.ts';
import { askUser } from './dialog.ts';
import { field, toggle, written } from './field.ts';
import { tell } from './notices.ts';

const MOST = 200;

/** Asks what call is to be placed, and places it. What is left empty is drawn from the seed. */
export function askForCall(): void {
  const content = [
    h(
      'p',
      { class: 'hint' },
      'It starts now and ends by itself, in the simulator’s time. What is left empty is invented.',
    ),
    field('Number called', { name: 'number', type: 'tel', placeholder: '+1 555 0100' }),
    field('Name of the person', { name: 'name', placeholder: 'as known to the service' }),
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
  askUser({ title: 'Place a call', go: 'Place', content }, placeCalls);
}

async function placeCalls(form: HTMLFormElement): Promise<void> {
  const call = {
    calledNumber: written(form, 'number'),
    calledName: written(form, 'name'),
    durationSeconds: Number(written(form, 'seconds')),
    recorded: written(form, 'recorded') !== undefined,
  };
  const count = Number(written(form, 'count'));
  for (let placed = 0; placed < count; placed++) await ask('POST', '/calls', call);
  tell(count === 1 ? 'The call has been placed.' : `${String(count)} calls have been placed.`);
}
