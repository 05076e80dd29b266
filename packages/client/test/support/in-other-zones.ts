// Prints, for zones on both sides of UTC, its difference, in how many seconds a `Retry-After` is, and the days of a search.
import { parseRetryAfter } from '../../src/http/transport.ts';
import { searchText } from '../../src/search/text.ts';

for (const zone of ['America/New_York', 'Pacific/Auckland']) {
  process.env['TZ'] = zone;
  const seconds = parseRetryAfter('Thu Jan  1 00:00:05 2026', Date.parse('2026-01-01T00:00:00Z'));
  const since = new Date('2026-01-01T00:00:00.000Z');
  const until = new Date('2026-01-01T23:59:59.999Z');
  console.log(new Date(2026, 0, 1).getTimezoneOffset(), seconds, searchText({ since, until }));
}
