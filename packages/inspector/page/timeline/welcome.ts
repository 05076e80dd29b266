import { fill, h, part } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import type { Store } from '../model/store.ts';
import { forwardForm } from '../parts/forward-form.ts';
import { askForCall } from '../parts/place-call.ts';

/** What a newcomer has to do first; shown while nothing has been delivered. */
export function welcome(store: Store): void {
  const forward = h(
    'li',
    null,
    h('h3', null, 'Say where your receiver listens'),
    h(
      'p',
      { class: 'hint' },
      'It gets call:started, call:completed and call:recording-available, signed.',
    ),
    forwardForm(),
  );
  const secrets = h(
    'li',
    null,
    h('h3', null, 'Give it the signing secrets'),
    h(
      'p',
      { class: 'hint' },
      'They stand beside the rules: show or copy them there. A receiver takes several at once.',
    ),
  );
  const place = h('button', { type: 'button', class: 'button' }, icon('phone'), 'Place a call');
  place.addEventListener('click', askForCall);
  const call = h(
    'li',
    null,
    h('h3', null, 'Place a call'),
    h('p', { class: 'hint' }, 'Its deliveries appear here, with every attempt and every answer.'),
    place,
  );
  const steps = [forward, secrets, call];
  fill(
    part('welcome'),
    h('h2', null, 'Nothing has been delivered yet'),
    h(
      'p',
      { class: 'lead' },
      'This simulator is the calling service on your own machine. Three steps to the first webhook:',
    ),
    h('ol', { class: 'steps' }, steps),
  );
  store.subscribe(() => {
    const { deliveries } = store.counts;
    const some = Object.values(deliveries).some((count) => count > 0);
    part('welcome').hidden = some || !store.policy;
    part('filters').hidden = !some;
    const ready = store.rules().length > 0;
    forward.toggleAttribute('data-done', ready);
    place.classList.toggle('primary', ready);
    forward.querySelector('.button')?.classList.toggle('primary', !ready);
  });
}
