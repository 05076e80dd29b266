// Prints in how many seconds a `Retry-After` is, in another zone: `parse-retry-after.ts HEADER NOW`.
import { parseRetryAfter } from '../../src/http/transport.ts';

const [header = '', now = ''] = process.argv.slice(2);
process.env['TZ'] = 'America/New_York';
console.log(new Date(2026, 0, 1).getUTCHours(), parseRetryAfter(header, Date.parse(now)));
