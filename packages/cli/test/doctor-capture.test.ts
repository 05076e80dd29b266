import { expect, test } from '@jest/globals';
import { run } from './support/run.ts';

// What `doctor --capture` says of fields that do not fit their meaning.

const CALL = {
  ...{ eventName: 'call:completed', callId: 'c-1', userId: 'u-1', createdAt: 1_760_000_000_000 },
  ...{ toPhoneNumber: '+12025550147', recipientEmail: 'ada@example.com' },
  ...{ recipientName: 'Ada Lovelace', startedAt: '2026-01-01T12:00:00Z' },
  endedAt: '2026-01-01T12:01:00Z',
};

async function fieldNames(...events: readonly object[]) {
  const stdin = events.map((event) => JSON.stringify(event)).join('\n');
  const { records, stdout } = await run(['doctor', '--json', '--capture', '-'], { stdin });
  const found = records() as { check: string; result: string; text: string }[];
  return { found: found.filter(({ check }) => check === 'field names'), stdout };
}

test.each<[object, string, string]>([
  [{ userId: { id: 'u1' } }, 'userId is an object instead of a text', 'placedBy'],
  [{ startedAt: 'Ada' }, 'startedAt is a text that is not a time in ISO 8601', 'dialedAt'],
  [{ toPhoneNumber: 12025550147 }, 'toPhoneNumber is a number instead of a text', 'calledNumber'],
  [{ endedAt: null }, 'endedAt is empty', 'endedAt'],
])('captured fields that do not fit are bad: %j', async (changes, text, property) => {
  // An event of another name that has the field does not show that this one has it.
  const started = { ...CALL, eventName: 'call:started', endedAt: undefined };
  const { found, stdout } = await fieldNames(started, { ...CALL, ...changes });
  expect(found).toMatchObject([
    {
      result: 'bad',
      text: `In call:completed, ${text}, so context.call does not have ${property}.`,
    },
  ]);
  expect(stdout).not.toMatch(/12025550147|Lovelace|u-?1/);
});

test('a captured field that is null, and need not be sent, is no fault', async () => {
  const { found } = await fieldNames({ ...CALL, recipientName: null });
  expect(found).toMatchObject([{ result: 'ok' }]);
});
