import { describe, expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { freePort, runSample, startSender } from '@call-webhooks/contract-tests';

const document = '../../../../../docs/custom-events.md';
const test = import.meta.url;

async function start(block: number) {
  const secret = generateSecret();
  const port = String(await freePort());
  const sample = runSample({
    ...{ test, document, block },
    replace: { '3000': port },
    env: { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret() },
  });
  await sample.printed('started');
  const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
  const deliver = async (body: object) => (await sender.post(JSON.stringify(body))).outcome;
  return { sample, deliver };
}

describe('the samples of docs/custom-events.md', () => {
  it('handle a custom payload once for each key', async () => {
    const { sample, deliver } = await start(1);
    expect(await deliver({ callId: 'c-1', ticket: 'T-1' })).toBe('handled');
    expect(await deliver({ callId: 'c-1', ticket: 'T-1' })).toBe('duplicate');
    expect(await deliver({ callId: 'c-2', ticket: 'T-1' })).toBe('handled'); // the same ticket again
    expect(await deliver({ callId: 'c-3', ticket: 'T-2' })).toBe('handled');
    expect(await deliver({ ticket: 'T-1' })).toBe('invalid-payload');
    await sample.printed('T-2 1');
    await sample.end();
  });

  it('handle a further event, known by its eventId', async () => {
    const { sample, deliver } = await start(2);
    const rated = { eventName: 'call:rated', eventId: 'r-1', stars: 5 };
    expect(await deliver(rated)).toBe('handled');
    expect(await deliver(rated)).toBe('duplicate');
    expect(await deliver({ ...rated, eventId: 'r-2', stars: 'many' })).toBe('invalid-payload');
    expect(await deliver({ eventName: 'call:other' })).toBe('ignored');
    await sample.printed('r-1 5');
    await sample.end();
  });
});
