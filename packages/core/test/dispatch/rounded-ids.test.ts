import { expect, it } from '@jest/globals';
import { bytes, createTestReceiver } from '../support.ts';

const custom = {
  key: (payload: unknown) => JSON.stringify((payload as { crm: { id: unknown } }).crm.id),
  handle: () => undefined,
};
const payload = (id: string) => bytes(`{"crm":{"id":${id}},"at":1767225600000}`);

it('two numeric ids above 2^53 are one key, of which the log warns once', async () => {
  const { send, lines } = createTestReceiver({ custom });
  const outcomes = [];
  for (const id of ['9007199254740992', '9007199254740993', '12345678901234567890'])
    outcomes.push(await send(payload(id)));
  expect(outcomes).toEqual(['handled', 'duplicate', 'handled']);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('custom.key returned a number above 2^53');
  expect(lines[0]).not.toContain('9007199254740992');
});

it.each(['9007199254740991', '"9007199254740993"', '{"n":[1,null],"t":"9007199254740993"}', '1.5'])(
  'there is no warning of %s',
  async (id) => {
    const { send, lines } = createTestReceiver({ custom });
    expect(await send(payload(id))).toBe('handled');
    expect(lines).toEqual([]);
  },
);

it('nor of a large number that is not part of the key', async () => {
  const key = (body: unknown) => (body as { id: string }).id;
  const { send, lines } = createTestReceiver({ custom: { ...custom, key } });
  expect(await send(bytes('{"id":"9007199254740993","n":12345678901234567890}'))).toBe('handled');
  expect(lines).toEqual([]);
});

// An id is usually near the beginning of a body.
it.each([
  [999, 1],
  [1_000, 0],
])('behind %d other large numbers of a body, an id gets %d warnings', async (others, warnings) => {
  const key = (body: unknown) => String((body as { id: unknown }).id);
  const { send, lines } = createTestReceiver({ custom: { ...custom, key } });
  const rest = Array<string>(others).fill('8888888888888888888').join();
  expect(await send(bytes(`{"rest":[${rest}],"id":9007199254740993}`))).toBe('handled');
  expect(lines).toHaveLength(warnings);
});
