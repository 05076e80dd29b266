import { describe, expect, test } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { handlerError, PERSON, PLANTED } from '@call-webhooks/contract-tests/planted';
import { sign } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import { closing, setup } from './support/dead-letters.ts';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const NAME = PERSON.recipientName;
/** A person where an id or the name of an event belongs, and in a key of the body. */
const EVENTS = [
  { eventName: 'call:completed', callId: 'call-1', [NAME]: 3 },
  { eventName: 'call:completed', callId: NAME },
  { eventName: 'call:completed', callId: PERSON.recipientEmail },
  { eventName: 'call:completed', callId: '\u202eAda\nLovelace' },
  { eventName: NAME, eventId: 'e-1' },
  { eventName: 'Lovelace,\u200bAda\n', eventId: 'e-2' },
];

/** A receiver that failed with each of these events, and the same event in the store of dead letters. */
async function failing() {
  // Not with deliveries of doctor, which have a name of their own: the values of another event can't be found in
  // the error of one.
  const fail = (event: object) =>
    Reflect.get(event, 'recipientName') === NAME
      ? Promise.reject(handlerError())
      : Promise.resolve();
  const made = await setup({ maxAttempts: 1, on: { 'call:completed': fail }, onUnhandled: fail });
  for (const event of EVENTS) {
    const body = JSON.stringify({ ...event, ...PERSON });
    const headers = { ...(await sign({ secret: SECRET, body })) };
    const { status } = await fetch(made.url, { method: 'POST', headers, body });
    expect(status).toBe(200);
  }
  return made;
}

describe('of a delivery with personal data', () => {
  test('the commands for dead letters tell nothing, until somebody asks to see a body', async () => {
    const { env, url, deadLetters } = await failing();
    await deadLetters.put(deadLetter({ tenant: 'acme', eventName: NAME }));
    const { letters } = await deadLetters.list();
    expect(letters).toHaveLength(EVENTS.length + 1);
    const commands = [
      ['list'],
      ['causes'],
      ...letters.map(({ id }) => ['show', id]),
      ['redrive', '--all', '--to', url],
    ];
    for (const argv of commands)
      for (const given of [{ env }, { env, terminal: true, columns: 200 }])
        for (const json of [[], ['--json']]) {
          const { stdout, stderr } = await run(['dead-letters', ...argv, ...json], given);
          expect(stdout + stderr).not.toBe('');
          expect([argv, stdout + stderr]).toEqual([argv, expect.not.stringMatching(PLANTED)]);
        }
    const id = letters.find(({ callId }) => callId === 'call-1')!.id;
    const revealed = await run(['dead-letters', 'show', id, '--reveal'], { env });
    expect(revealed.stdout).toContain(NAME);
  });

  test('doctor and reconcile tell nothing', async () => {
    const { env, url } = await failing();
    const simulator = await startSimulator({});
    closing.push(() => simulator.close());
    const call = simulator.calls.start({
      ...{ calledName: NAME, calledEmail: PERSON.recipientEmail },
      ...{ calledNumber: PERSON.toPhoneNumber, recorded: false },
    });
    simulator.calls.end(call._id);
    const window = ['--since', '1h', '--until', '0s'];
    for (const argv of [
      ['doctor', '--to', url],
      ['reconcile', '--simulator', simulator.url, ...window, '--dry-run'],
      ['reconcile', '--simulator', simulator.url, ...window, '--to', url],
    ])
      for (const json of [[], ['--json']]) {
        const { stdout, stderr, code } = await run([...argv, ...json], { env });
        expect([argv, code]).not.toEqual([argv, 2]);
        expect([argv, stdout + stderr]).toEqual([argv, expect.not.stringMatching(PLANTED)]);
      }
  });

  test('reconcile tells nothing of a service whose ids are numbers and addresses', async () => {
    const { env, url } = await failing();
    const at = Date.now() - 1_800_000;
    const ids = [PERSON.toPhoneNumber, PERSON.recipientEmail, NAME];
    const results = ids.map((_id) => ({
      ...{ _id, createdAt: at, startedAt: new Date(at), endedAt: new Date(at + 1_000) },
    }));
    const server = await receiver(() => ({ status: 200, body: JSON.stringify({ results }) }));
    closing.push(() => server.close());
    const service = ['--base-url', new URL(server.url).origin, '--api-token', 't'];
    const fails = await receiver(() => ({ status: 500, body: '{"outcome":"handler-failed"}' }));
    closing.push(() => fails.close());
    for (const more of [['--dry-run'], ['--to', url], ['--to', fails.url]])
      for (const json of [[], ['--json']]) {
        const argv = ['reconcile', '--since', '2h', ...service, ...more, ...json];
        const { stdout, stderr, code } = await run(argv, { env });
        expect([more, code <= 1, stdout.includes('3')]).toEqual([more, true, true]);
        expect([more, stdout + stderr]).toEqual([more, expect.not.stringMatching(PLANTED)]);
      }
    expect(fails.received).toHaveLength(6);
  });
});
