import { h } from '../dom/element.ts';
import { ask } from '../live/ask.ts';
import { messageOf } from './action-button.ts';
import { field, written } from './field.ts';
import { tell } from './notices.ts';

/** A form that sends all three events to one receiver. */
export function forwardForm(): HTMLFormElement {
  const error = h('p', { class: 'form-error', role: 'alert' });
  const go = h('button', { type: 'submit', class: 'button primary' }, 'Forward');
  const url = {
    name: 'url',
    type: 'url',
    required: true,
    placeholder: 'http://127.0.0.1:3000/hook',
  };
  const form = h(
    'form',
    { class: 'forward' },
    field('URL of your receiver', url),
    h(
      'details',
      null,
      h('summary', null, 'Use a signing secret of your own'),
      field(
        'Signing secret',
        { name: 'secret', placeholder: 'whsec_…', pattern: 'whsec_.+' },
        'One for all three. Otherwise each rule gets its own, shown beside it.',
      ),
    ),
    error,
    h('div', { class: 'buttons' }, go),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    error.textContent = '';
    ask('POST', '/forward', { url: written(form, 'url'), secret: written(form, 'secret') })
      .then(() => {
        form.reset();
        tell('All three events are forwarded now.');
      })
      .catch((reason: unknown) => {
        error.textContent = messageOf(reason);
      });
  });
  return form;
}
