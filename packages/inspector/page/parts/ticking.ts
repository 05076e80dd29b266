import { h, write } from '../dom/element.ts';
import type { Store } from '../model/store.ts';
import { moment, span, timeOfDay } from '../model/time.ts';

let now = () => Date.now();

/** A time that is due, told as a span from now; it counts down. @param at milliseconds */
export const countdown = (at: number): HTMLElement =>
  h('time', { 'data-due': at, title: moment(at), datetime: new Date(at).toISOString() }, left(at));

function left(at: number): string {
  const ms = at - now();
  return ms > 0 ? `in ${span(ms)}` : 'now';
}

/** A time of day that stays as it is. */
export const clockTime = (at: number, classes = ''): HTMLElement =>
  h(
    'time',
    { class: classes, title: moment(at), datetime: new Date(at).toISOString() },
    timeOfDay(at),
  );

/** Keeps every countdown of the page right: as the clock flows, and as it is turned. */
export function keepTicking(store: Store): void {
  now = () => store.now();
  const tick = () => {
    for (const element of document.querySelectorAll('[data-due]'))
      write(element, left(Number(element.getAttribute('data-due'))));
  };
  store.subscribe(tick);
  setInterval(tick, 1_000);
}
