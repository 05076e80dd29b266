import { expect, test } from '@jest/globals';
import type { Simulator, SimulatorOptions } from '@call-webhooks/simulator';
import { getJson } from './support/rest.ts';
import { testResources } from './support/test-resources.ts';

const open = testResources();

/** Everything that a simulator shows, without its address, its ids, its secrets and what it invents. */
async function shown(simulator: Simulator): Promise<unknown> {
  const paths = ['state', 'secrets', 'messages', 'outbox', 'rules', 'calls', 'clock', 'events'];
  const answers = await Promise.all(
    paths.map(async (path) => [path, await (await fetch(`${simulator.url}/_sim/${path}`)).json()]),
  );
  const rest = [await getJson(simulator, '/events'), await getJson(simulator, '/calls')];
  const own = { due: simulator.clock.nextDueAt(), secrets: simulator.secrets.all() };
  return JSON.parse(
    JSON.stringify([Object.fromEntries(answers), rest, own])
      .replaceAll(simulator.url, 'URL')
      .replaceAll(/whsec_[\w+/=]+/g, 'whsec_')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{24}/g, 'id')
      .replaceAll(/"tookMs":[\d.]+/g, '"tookMs":0')
      .replaceAll(/"date":"[^"]*"|v1,[\w+/=]+|"X-Service-Timestamp":"\d+"/g, '""'),
  );
}

test('after a reset, everything is as in a new simulator, and happens as there', async () => {
  const options: SimulatorOptions = {
    ...{ retryJitter: 0, recordingFirst: 0, maxAttempts: 2 },
    whilePaused: 'hold',
    chaos: { replay: 1 },
  };
  const receiver = await open.receiver(({ body }, response) => {
    response.writeHead(body.includes('Ola') ? 500 : 200).end();
  });
  const silent = await open.receiver(() => undefined);
  const live = async ({ rules, calls, messages, clock, secrets, chaos, events }: Simulator) => {
    const [started] = rules.forwardTo(receiver.url);
    rules.create({ trigger: 'call:started', actions: [{ url: 'http://127.0.0.1:9/' }] });
    secrets.rotate(started!.actions[0]!._id);
    // Those of one millisecond are listed in the order of their ids.
    for (const calledName of ['Ida Holm', 'Ola Berg']) {
      calls.place({
        ...{ calledName, calledEmail: null, calledNumber: '+15550101' },
        durationSeconds: 400,
      });
      await clock.advance('1s');
    }
    const message = messages.send({ subject: 'Hi', to: ['a@x.example', 'b@x.example'] });
    await clock.advance('1s');
    messages.record(message._id, { action: 'opened' });
    await events.settled();
    chaos.set({ duplicate: 0, replay: 0 });
    await clock.advance('10m');
    rules.pause(started!._id);
    calls.start({ calledName: 'Held', calledEmail: null, calledNumber: '+15550102' });
    await events.settled();
  };
  const fresh = await open.simulator(options);
  const reset = await open.simulator(options);
  const untouched = await shown(fresh);
  expect(await shown(reset)).toEqual(untouched);
  await live(reset);
  reset.rules.setRecordingWebhook({ url: silent.url });
  reset.calls.publishRecording(reset.calls.end(reset.calls.start()._id)._id);
  await silent.arrived(1);
  expect(reset.events.counts()).toHaveProperty('in-flight');
  reset.reset();
  expect(await shown(reset)).toEqual(untouched);
  await live(fresh);
  const lived = await shown(fresh);
  expect(fresh.events.counts()).toEqual({ acknowledged: 4, waiting: 1, failed: 2, held: 3 });
  expect([fresh.outbox.list().length, fresh.messages.activities().length]).toEqual([2, 1]);
  await live(reset);
  expect(await shown(reset)).toEqual(lived);
});
