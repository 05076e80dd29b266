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

it('of a weekend, both ends have their day, and the figure says if the log has only a part of the week before', async () => {
  const [begun, end] = [NOW - 45 * HOUR, NOW - 4.5 * HOUR];
  const period = (at: number) => Math.floor(at / (10 * MINUTE));
  const arrivals = Object.fromEntries(
    [NOW - 8 * DAY + HOUR, begun, end].map((at) => [period(at), { 'call:completed/': 30 }]),
  );
  const store = await storeWith({ counts: { arrivals } });
  const { notes } = await status({ store, timeZone: 'UTC' });
  expect(notes[0]?.text).toMatch(
    /^Nothing arrived from about Saturday 17:10 UTC to Monday 09:30 UTC\. In the same hours of last week, at least 30 calls arrived\./,
  );
});
