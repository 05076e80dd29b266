import { describe, expect, it } from '@jest/globals';
import { callBody } from '@call-webhooks/contract-tests';
import { handlerError, PERSON, PLANTED } from '@call-webhooks/contract-tests/planted';
import { generateSecret, sign } from '@call-webhooks/core';
import { open } from './support.ts';

/** A key of a body that is a name, and one that would break a line of a log. */
const NAMES = { 'Ada Lovelace': 3, 'Lovelace,\nAda\u202e': true };

/** A console whose receiver got the delivery of a person in all the ways that can fail. */
async function told() {
  const opened = open({
    authorize: () => ({ name: 'Grace' }),
    receiving: {
      maxAttempts: 1,
      on: {
        'call:completed': () => Promise.reject(handlerError()),
        'call:started': () => undefined,
      },
      onUnhandled: ({ eventName }) => {
        throw new Error(`no handler for ${String(eventName)}`);
      },
    },
  });
  const { deliver, receiver } = opened;
  const body = callBody('call-1', 'call:completed', { ...PERSON, ...NAMES });
  await deliver(body);
  await deliver(callBody('call-2', 'call:started', { ...PERSON, ...NAMES }));
  await deliver(callBody(PERSON.recipientEmail, 'call:completed', PERSON)); // an id that is an address
  await deliver(callBody(PERSON.recipientName, 'call:completed', PERSON)); // and one that is a name
  await deliver(JSON.stringify({ eventName: PERSON.recipientName, eventId: '1', ...PERSON }));
  await deliver(JSON.stringify(PERSON));
  await deliver(`{"recipientName": "${PERSON.recipientName}"`);
  const bytes = new TextEncoder().encode(body);
  const headers = await sign({
    secret: generateSecret(),
    body: bytes,
    webhookId: '+491715550123',
  });
  await receiver.receive({ method: 'POST', headers, body: bytes });
  return opened;
}

/** Every answer that the page asks for, and that nobody has to confirm. */
async function answers({ get, deadLetters }: Awaited<ReturnType<typeof told>>) {
  const { letters } = await deadLetters.list();
  const { deliveries } = await get<{ deliveries: { id: string }[] }>('/api/deliveries');
  const paths = [
    ...['/', '/api/session', '/api/overview', '/api/tasks', '/api/dead-letters', '/api/deliveries'],
    ...['/api/failures?since=0', '/api/times', '/api/times?range=day'],
    ...['call-1', 'call-2'].map((callId) => `/api/calls/${callId}`),
    ...letters.map(({ id }) => `/api/dead-letters/${encodeURIComponent(id)}`),
    ...deliveries.map(({ id }) => `/api/deliveries/${encodeURIComponent(id)}`),
  ];
  return { paths, letters, deliveries };
}

describe('of a delivery with personal data', () => {
  it('no answer of the console has anything, until somebody asks to see a body', async () => {
    const opened = await told();
    await opened.receiver.close({ graceMs: 0 }); // writes the rest of the log
    const { paths, letters, deliveries } = await answers(opened);
    expect(letters.length).toBeGreaterThanOrEqual(3);
    expect(deliveries.length).toBeGreaterThanOrEqual(6);
    for (const path of paths) {
      const response = await opened.ask(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect([path, await response.text()]).toEqual([path, expect.not.stringMatching(PLANTED)]);
    }
    const search = await opened.send('/api/dead-letters/search', { about: PERSON.toPhoneNumber });
    const found = await search.text();
    expect(JSON.parse(found)).toMatchObject({
      letters: expect.arrayContaining([expect.anything()]),
    });
    expect(found).not.toMatch(PLANTED);
    const id = letters.find(({ callId }) => callId === 'call-1')!.id;
    const revealed = await opened.send(`/api/dead-letters/${encodeURIComponent(id)}/reveal`);
    expect(await revealed.text()).toContain(PERSON.recipientName);
  });

  it('a redrive that fails, and the log of what operators did, have nothing', async () => {
    const opened = await told();
    const { letters } = await opened.deadLetters.list();
    for (const { id } of letters) {
      const redrive = await opened.send('/api/redrive', { ids: [id], waitMs: 5_000 });
      expect(await redrive.text()).not.toMatch(PLANTED);
    }
    await opened.send('/api/dead-letters/search', { about: PERSON.recipientName });
    for (const about of [PERSON.toPhoneNumber, PERSON.recipientEmail]) {
      const erasure = await opened.send('/api/erase', { about, forgetKeys: true, waitMs: 5_000 });
      const text = await erasure.text();
      expect(JSON.parse(text)).toMatchObject({ erasure: { state: 'done' } });
      expect(text).not.toMatch(PLANTED);
      expect(await opened.store.loadCursor?.('console/erasure')).not.toMatch(PLANTED);
    }
    const removal = await opened.send('/api/remove', { all: true, waitMs: 5_000 });
    expect(await removal.text()).not.toMatch(PLANTED);
    expect(JSON.stringify(opened.logger)).not.toMatch(PLANTED);
  });
});
