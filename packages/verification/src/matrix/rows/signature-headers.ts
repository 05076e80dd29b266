import { requestBytes, signatureLines } from '../request-bytes.ts';
import type { Row, RowGroup, RowContext } from '../row.ts';

/** Changes the three signature headers of a valid delivery. */
type Change = (lines: readonly [string, string, string], context: RowContext) => readonly string[];

const refused = (name: string, change: Change): Row => ({
  name,
  expect: 'refused',
  steps: (context) => {
    const lines = signatureLines(context.valid) as [string, string, string];
    return [requestBytes(context.valid, context.path, { signed: change(lines, context) })];
  },
});

const timestamp = (name: string, of: (valid: string) => string): Row =>
  refused(`timestamp ${name}`, ([id, , signature], { valid }) => [
    id,
    `X-Service-Timestamp: ${of(valid.timestamp)}`,
    signature,
  ]);

const signature = (name: string, of: (valid: string) => string): Row =>
  refused(`signature ${name}`, ([id, time], { valid }) => [
    id,
    time,
    `X-Service-Signature: ${of(valid.signature)}`,
  ]);

const webhookId = (name: string, of: (valid: string) => string): Row =>
  refused(`webhook id ${name}`, ([, time, sign], { valid }) => [
    `X-Service-Webhook-Id: ${of(valid.webhookId)}`,
    time,
    sign,
  ]);

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The same bytes in another spelling: a bit that base64 does not use is set. */
function respelt(signed: string): string {
  const at = signed.length - 2;
  const last = BASE64.indexOf(signed.charAt(at));
  return `${signed.slice(0, at)}${BASE64.charAt(last ^ 1)}=`;
}

export const signatureHeaders: RowGroup = {
  title: 'Signature headers',
  rows: [
    refused('no signature headers at all', () => []),
    refused('no webhook id', ([, time, sign]) => [time, sign]),
    refused('no timestamp', ([id, , sign]) => [id, sign]),
    refused('no signature', ([id, time]) => [id, time]),
    refused('webhook id twice, the same', ([id, time, sign]) => [id, id, time, sign]),
    refused('timestamp twice', ([id, time, sign]) => [id, time, time, sign]),
    refused('signature twice, the first one right', ([id, time, sign]) => [
      id,
      time,
      sign,
      `X-Service-Signature: v1,${'A'.repeat(43)}=`,
    ]),
    webhookId('empty', () => ''),
    webhookId('joined by a comma', (id) => `${id}, ${id}`),
    webhookId('with a dot', (id) => `${id}.1`),
    webhookId('of 257 characters', () => 'i'.repeat(257)),
    webhookId('of 8,000 characters', () => 'i'.repeat(8_000)),
    webhookId('in UTF-8', () => Buffer.from('idée').toString('latin1')),
    webhookId('with a tab', (id) => `${id}\t${id}`),
    webhookId('of another delivery', () => 'somebody-elses-id'),
    timestamp('empty', () => ''),
    timestamp('"1e9"', () => '1e9'),
    timestamp('in hexadecimal', (time) => `0x${Number(time).toString(16)}`),
    timestamp('with a fraction', (time) => `${time}.5`),
    timestamp('with letters after it', (time) => `${time}abc`),
    timestamp('with a sign', (time) => `+${time}`),
    timestamp('negative', (time) => `-${time}`),
    timestamp('with a leading zero', (time) => `0${time}`),
    timestamp('huge', () => '9'.repeat(300)),
    timestamp('"NaN"', () => 'NaN'),
    timestamp('in milliseconds', (time) => `${time}000`),
    timestamp('in Arabic digits', () => Buffer.from('١٧٠٠٠٠٠٠٠٠').toString('latin1')),
    timestamp('301 s ago', (time) => String(Number(time) - 302)),
    signature('empty', () => ''),
    signature('without its version', (sign) => sign.slice(3)),
    signature('of version 2', (sign) => sign.replace('v1', 'v2')),
    signature('in another spelling of base64', respelt),
    signature('without its padding', (sign) => sign.slice(0, -1)),
    signature('in lower case', (sign) => sign.toLowerCase().replace('v1', 'v1')),
    signature('in URL-safe base64', (sign) => sign.replace(/[A-Za-z0-9]=$/, '-=')),
    signature('followed by another one', (sign) => `${sign} ${sign}`),
    signature('of 6,000 characters', (sign) => sign + 'A'.repeat(6_000)),
    signature('that is wrong', () => `v1,${'A'.repeat(43)}=`),
  ],
};
