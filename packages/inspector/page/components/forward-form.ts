import { h } from '../dom/element.ts';
import { callApi } from '../live/api.ts';
import { messageOf } from './action-button.ts';
import { field, fieldValue } from './field.ts';
import { notify } from './notices.ts';

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
      h('summary', null, 'Use your own signing secret'),
      field(
        'Signing secret',
        { name: 'secret', placeholder: 'whsec_…', pattern: 'whsec_.+' },
        'The same for all three. Otherwise each rule gets its own.',
      ),
    ),
    error,
    h('div', { class: 'buttons' }, go),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    error.textContent = '';
    callApi('POST', '/forward', {
      url: fieldValue(form, 'url'),
      secret: fieldValue(form, 'secret'),
    })
      .then(() => {
        form.reset();
        notify('Forwarding all three events.');
      })
      .catch((reason: unknown) => {
        error.textContent = messageOf(reason);
      });
  });
  return form;
}
