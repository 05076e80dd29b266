import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { createReceiver, generateSecret, type CallDetails } from '@call-webhooks/core';
import type { callWebhooks } from '@call-webhooks/express';
import { read } from './files.ts';
import { writeSamples } from './samples.ts';

const secret = generateSecret();
const before = { ...process.env };
const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
const log = jest.spyOn(console, 'log').mockImplementation(() => undefined);

beforeAll(() => {
  process.env['CALL_WEBHOOK_SECRET'] = secret;
  process.env['RECORDING_WEBHOOK_SECRET'] = generateSecret();
});
afterAll(() => {
  jest.restoreAllMocks();
  process.env = before;
});

const DATE = '2026-01-02T03:04:05.000Z';

/** The rows of the table: the property, its field, and its type. */
const rows = read('docs/field-names.md')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, property = '', , field = '', type = '']) => ({ property, field, type }));

it('each property of the table is read from its field, and has its type', async () => {
  let call: CallDetails | undefined;
  const on = {
    'call:completed': (_event: object, context: { call: CallDetails }) => {
      ({ call } = context);
    },
  };
  const values = rows.map(({ field, type }) => {
    const text = type.startsWith('string') ? `a ${field}` : DATE;
    return [field, type.includes('epoch') ? Date.parse(DATE) : text];
  });
  const fields = Object.fromEntries(values) as Record<string, unknown>;
  const event = { eventName: 'call:completed', callId: 'c1', ...fields };
  await createReceiver({ secret, on }).deliver(event);
  expect(rows).toHaveLength(7);
  expect(call).toEqual(
    Object.fromEntries(
      rows.map(({ property, field, type }) => [
        property,
        type.startsWith('Date') ? new Date(DATE) : `a ${field}`,
      ]),
    ),
  );
});

it('the sample finds details under other names, and is not warned of', async () => {
  const [sample] = writeSamples('fields', (document) => document === 'docs/field-names.md');
  const { hook } = (await import(sample!.file)) as { hook: ReturnType<typeof callWebhooks> };
  const names = {
    ...{ userId: 'u1', dialedNumber: '+12025550101', finishedAt: DATE, department: 'sales' },
  };
  const result = await hook.receiver.deliver({
    ...{ eventName: 'call:completed', callId: 'c1' },
    ...names,
  });
  expect(result.outcome).toBe('handled');
  expect(log).toHaveBeenCalledWith('c1', DATE, 'sales');
  expect(warn).not.toHaveBeenCalled();
  expect((await hook.receiver.health()).unknownFields).toBeUndefined();
});
