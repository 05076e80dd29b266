import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { sign, verify, type CallStartedEvent } from '../../src/index.ts';
import { createTestReceiver, NOW, SECRET, STARTED } from '../support.ts';

/** As in `vm`, jsdom and the sandboxes of test runners. */
const foreign = (text: string): Uint8Array =>
  runInNewContext('Uint8Array.from(text, (char) => char.charCodeAt(0))', { text }) as Uint8Array;

it('bytes of another realm are verified, handled and kept like any others', async () => {
  const body = foreign(JSON.stringify(STARTED));
  expect(body instanceof Uint8Array).toBe(false);
  const headers = await sign({ secret: SECRET, body, timestamp: new Date(NOW) });
  const now = () => NOW;
  expect(await verify({ headers, body }, { secret: SECRET, now })).toMatchObject({
    secretId: 'secret-1',
  });
  const seen: unknown[] = [];
  const { receiver } = createTestReceiver({
    on: { 'call:started': ({ callId }: CallStartedEvent) => seen.push(callId) },
  });
  expect((await receiver.receive({ headers, body })).status).toBe(200);
  expect(
    (await receiver.deliver(foreign('{"eventName":"call:started","callId":"c2"}'))).outcome,
  ).toBe('handled');
  expect(seen).toEqual(['call-1', 'c2']);
});

it('what is no bytes can not be verified', async () => {
  const headers = await sign({ secret: SECRET, body: '{}', timestamp: new Date(NOW) });
  const { receiver } = createTestReceiver({});
  for (const body of [
    '{}',
    [1],
    new DataView(new ArrayBuffer(2)),
    new Uint16Array(1),
    { length: 2 },
  ])
    expect((await receiver.receive({ headers, body: body as never })).outcome.outcome).toBe(
      'body-already-parsed',
    );
});
