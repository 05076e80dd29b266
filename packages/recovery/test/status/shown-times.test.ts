import { expect, it } from '@jest/globals';
import { status, statusLine } from '@call-webhooks/recovery';
import { DAY, HOUR, MINUTE } from './service-model.ts';
import { ack, NOW, storeWith } from './written-log.ts';

/** Monday at 14:00 UTC: when an event arrived last, and how that is told then. */
const QUIET: [ago: number, timeZone: string, shown: string][] = [
  [11 * HOUR, 'UTC', '03:00 UTC'],
  [15 * HOUR, 'UTC', 'Sunday 23:00 UTC'],
  [15 * HOUR, 'Asia/Kathmandu', '04:45 GMT+5:45'],
  [6 * DAY - MINUTE, 'UTC', 'Tuesday 14:01 UTC'],
  [6 * DAY, 'UTC', '$ 14:00 UTC'],
  [20 * DAY, 'UTC', '$ 14:00 UTC'],
];

it.each(QUIET)('of %i ms ago, in %s, is told as %s', async (ago, timeZone, shown) => {
  const at = NOW - ago;
  const store = await storeWith({ marks: { [ack('call:completed')]: at } });
  const date = new Date(at);
  const month = date.toLocaleString('en-GB', { month: 'short', timeZone: 'UTC' });
  const line = statusLine(await status({ store, timeZone }));
  expect(line).toContain(
    `Quiet since ${shown.replace('$', `${String(date.getUTCDate())} ${month}`)}.`,
  );
});
