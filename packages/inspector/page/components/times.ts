import { h, setText } from '../dom/element.ts';
import type { Store } from '../model/store.ts';
import { moment, span, timeOfDay } from '../model/time.ts';

let now = () => Date.now();

/** A countdown to a time. @param at milliseconds since the epoch */
export const countdown = (at: number): HTMLElement =>
  h('time', { 'data-due': at, title: moment(at), datetime: new Date(at).toISOString() }, left(at));

function left(at: number): string {
  const ms = at - now();
  return ms > 0 ? `in ${span(ms)}` : 'now';
}

/** A time of day. */
export const clockTime = (at: number, classes = ''): HTMLElement =>
  h(
    'time',
    { class: classes, title: moment(at), datetime: new Date(at).toISOString() },
    timeOfDay(at),
  );

/** Updates every countdown of the page. */
export function keepTicking(store: Store): void {
  now = () => store.now();
  const tick = () => {
    for (const element of document.querySelectorAll('[data-due]'))
      setText(element, left(Number(element.getAttribute('data-due'))));
  };
  store.subscribe(tick);
  setInterval(tick, 1_000);
}
