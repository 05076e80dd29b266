import { setChildren, h, byId } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import type { Store } from '../model/store.ts';
import { forwardForm } from '../components/forward-form.ts';
import { openCallDialog } from '../components/place-call.ts';

/** The first steps; shown while there are no deliveries. */
export function welcome(store: Store): void {
  const forward = h(
    'li',
    null,
    h('h3', null, 'Enter the URL of your receiver'),
    h(
      'p',
      { class: 'hint' },
      'It receives call:started, call:completed and call:recording-available, signed.',
    ),
    forwardForm(),
  );
  const secrets = h(
    'li',
    null,
    h('h3', null, 'Configure the signing secrets'),
    h(
      'p',
      { class: 'hint' },
      'Show or copy them in the list of rules. A receiver accepts several at once.',
    ),
  );
  const place = h('button', { type: 'button', class: 'button' }, icon('phone'), 'Place a call');
  place.addEventListener('click', openCallDialog);
  const call = h(
    'li',
    null,
    h('h3', null, 'Place a call'),
    h('p', { class: 'hint' }, 'Its deliveries appear here, with every attempt and response.'),
    place,
  );
  const steps = [forward, secrets, call];
  setChildren(
    byId('welcome'),
    h('h2', null, 'No deliveries yet'),
    h(
      'p',
      { class: 'lead' },
      'The simulator is a local copy of the calling service. Three steps to the first webhook:',
    ),
    h('ol', { class: 'steps' }, steps),
  );
  store.subscribe(() => {
    const { deliveries } = store.counts;
    const some = Object.values(deliveries).some((count) => count > 0);
    byId('welcome').hidden = some || !store.policy;
    byId('filters').hidden = !some;
    const ready = store.rules().length > 0;
    forward.toggleAttribute('data-done', ready);
    place.classList.toggle('primary', ready);
    forward.querySelector('.button')?.classList.toggle('primary', !ready);
  });
}
