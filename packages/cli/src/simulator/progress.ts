import type { DeliverySummary } from './views.ts';

/** Nothing more will be sent of it. */
export const isOver = ({ state }: Pick<DeliverySummary, 'state'>): boolean =>
  state === 'acknowledged' || state === 'failed' || state === 'dropped';

/** It was answered once, or never will be: held back and dropped ones are not waited for. */
export const attempted = (delivery: DeliverySummary): boolean =>
  isOver(delivery) ||
  delivery.state === 'held' ||
  delivery.attempts.some(({ answer }) => answer !== undefined);
