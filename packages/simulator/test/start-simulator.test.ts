import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { sign, verify } from '@call-webhooks/core';
import * as simulator from '@call-webhooks/simulator';
import { type SimulatorOptions, startSimulator } from '@call-webhooks/simulator';
import ts from 'typescript';
import { SeededRandom } from '../src/seeded-random.ts';
import { testResources } from './support/test-resources.ts';

describe('a simulator', () => {
  const open = testResources();

  /** Everything that a run decided; what the wall clock and the free port have to do with is left out. */
  async function run(seed: string) {
    const simulator = await open.simulator({
      seed,
      timestamps: 'clock',
      slowBodyMs: 0,
      baseUrl: 'https://api.example',
    });
    const receiver = await open.receiver((received, response) => {
      response.writeHead(received.body.length % 3 === 0 ? 500 : 200).end();
    });
    simulator.chaos.setAll(0.3);
    simulator.rules.forwardTo(receiver.url);
    for (let placed = 0; placed < 6; placed++) simulator.calls.place();
    await simulator.clock.runUntilIdle();
    const seen = simulator.events.list().map(({ attempts, ...event }) => ({
      ...event,
      attempts: attempts.map(({ request, response, droppedResponse, tookMs: _, ...attempt }) => ({
        ...attempt,
        headers: request.headers,
        body: request.body,
        answers: [response, droppedResponse].map((one) =>
          one?.kind === 'status' ? one.status : one,
        ),
      })),
    }));
    return { seen, ended: simulator.clock.now(), secrets: simulator.secrets.all() };
  }

  test('the same seed gives the same run, another seed another', async () => {
    const [one, same, other] = [await run('a'), await run('a'), await run('b')];
    expect(one.seen.length).toBeGreaterThan(18);
    expect(same).toEqual(one);
    expect(other.seen.map(({ _id }) => _id)).not.toEqual(one.seen.map(({ _id }) => _id));
  });

  test('after a restart, the same seed gives the same token, ids and secrets', async () => {
    const start = async () => {
      const simulator = await startSimulator({ seed: 'restarted' });
      const rules = simulator.rules.forwardTo('http://127.0.0.1:9/hook');
      const message = simulator.messages.send({ subject: 'Hi', to: 'a@x.example' });
      const [action] = rules[0]!.actions;
      const rotated = simulator.secrets.rotate(action!._id);
      const { apiToken, secrets, calls } = simulator;
      const ids = [calls.start()._id, message._id, ...rules.map(({ _id }) => _id)];
      await simulator.close();
      return { apiToken, ids, secrets: secrets.all(), rotated };
    };
    const before = await start();
    expect(before.secrets).toHaveLength(3);
    expect(await start()).toEqual(before);
  });

  test('what comes after a reset has ids of its own, and those are the same again', async () => {
    const ids = async () => {
      const simulator = await open.simulator({ seed: 'reset' });
      const first = simulator.calls.start()._id;
      simulator.reset();
      expect(simulator.calls.list()).toEqual([]);
      return [first, simulator.calls.start()._id];
    };
    const [one, two] = [await ids(), await ids()];
    expect(one[0]).not.toBe(one[1]);
    expect(two).toEqual(one);
  });

  test.each<[SimulatorOptions, string]>([
    [{ port: 70_000 }, 'port'],
    [{ clock: 'fast' as never }, 'clock'],
    [{ maxAttempts: 0 }, 'maxAttempts'],
    [{ retryJitter: 2 }, 'retryJitter'],
    [{ retryEvery: 'soon' }, 'retryEvery must be a duration'],
    [{ chaos: { replay: 7 } }, 'chaos.replay must be a number from 0 to 1.'],
    [{ chaos: { earthquake: 1 } as never }, 'chaos: There is no field "earthquake".'],
    [{ fieldNames: { colour: 'red' } as never }, 'fieldNames: There is no field "colour".'],
    [
      { fieldNames: { dialedAt: 'at', endedAt: 'at' } },
      'fieldNames.endedAt must be another name than dialedAt has, or undefined if there is no such field.',
    ],
    [{ db: 'state.db' } as never, 'There is no field "db".'],
    [{ headerPrefix: 'X Service' }, 'headerPrefix'],
    [{ extraHeaders: { 'X-Note': 'two\nlines' } }, 'extraHeaders'],
    [{ workspace: { _id: 'w', users: [], teams: [], templates: [], sequences: [] } }, 'one user'],
  ])('%j is refused at the start', async (options, named) => {
    const starting = startSimulator(options);
    await expect(starting).rejects.toMatchObject({ code: 'invalid-input' });
    await expect(starting).rejects.toThrow(named);
  });

  /** A receiver that answers nobody, one event that it works on, and many in line. */
  async function busy() {
    const simulator = await open.simulator({ maxInFlight: 1 });
    const receiver = await open.receiver(() => undefined);
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    for (let placed = 0; placed < 20; placed++) simulator.calls.start();
    await receiver.arrived();
    return { simulator, receiver };
  }

  test.each<[string, (response: ServerResponse, count: number) => unknown]>([
    ['are acknowledged', (response) => response.end()],
    ['fail', (response) => response.writeHead(500).end()],
    ['break', (response) => response.destroy()],
    ['are of a rule that is paused meanwhile', (response) => response.writeHead(404).end()],
  ])(
    'maxInFlight: never more at once, and each makes room for the next when they %s',
    async (what, respond) => {
      const simulator = await open.simulator({ maxInFlight: 2, maxAttempts: 2 });
      let atOnce = 0;
      let most = 0;
      const receiver = await open.receiver(async (_received, response, count) => {
        most = Math.max(most, ++atOnce);
        await receiver.arrived(2);
        atOnce--;
        respond(response, count);
      });
      const { url } = receiver;
      simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
      for (let placed = 0; placed < 9; placed++) simulator.calls.start();
      await simulator.events.settled();
      const isPaused = what.includes('paused');
      if (!isPaused) expect(receiver.received).toHaveLength(9);
      receiver.respond = (_received, response) => void response.end();
      for (const { _id } of simulator.rules.list()) simulator.rules.resume(_id);
      for (let placed = 0; placed < 9; placed++) simulator.calls.start();
      await simulator.clock.runUntilIdle();
      const { acknowledged = 0, failed = 0, dropped = 0 } = simulator.events.counts();
      expect(acknowledged + failed + dropped).toBe(18);
      expect(acknowledged).toBe(isPaused ? 9 : 18);
      expect(most).toBe(2);
    },
  );

  test('after close nothing is sent any more, not even what stood in line', async () => {
    const { simulator, receiver } = await busy();
    await simulator.close();
    await simulator.events.settled();
    simulator.calls.start();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(receiver.received).toHaveLength(1);
  });

  test.each(['manual', 'real'] as const)(
    'after close, what is called on a %s clock neither fails nor does anything',
    async (clock) => {
      const simulator = await open.simulator({ clock });
      const receiver = await open.receiver();
      simulator.rules.forwardTo(receiver.url);
      simulator.calls.place({ durationSeconds: 3_600 });
      await simulator.events.settled();
      await simulator.close();
      await simulator.close();
      await simulator.closed;
      const call = simulator.calls.place({ durationSeconds: 3_600 });
      simulator.calls.end(call._id);
      simulator.events.resend(simulator.events.list()[0]!._id);
      expect(await simulator.clock.next()).toBe(false);
      await simulator.clock.runUntilIdle();
      simulator.reset();
      await simulator.close();
      expect(receiver.received).toHaveLength(1);
    },
  );

  test('a reset brings back the chaos of the options, whatever was set since', async () => {
    const simulator = await open.simulator({ chaos: { replay: 0.25, slowBody: 0.5 } });
    const before = simulator.chaos.get();
    expect(before).toMatchObject({ replay: 0.25, slowBody: 0.5, duplicate: 0 });
    simulator.chaos.set({ replay: 0, duplicate: 1 });
    simulator.reset();
    expect(simulator.chaos.get()).toEqual(before);
  });

  test('a reset in the middle of everything leaves nothing behind', async () => {
    const { simulator, receiver } = await busy();
    receiver.respond = (_received, response) => void response.end();
    simulator.reset();
    // This one is being signed when the next reset comes.
    const { url } = receiver;
    simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    simulator.calls.start();
    simulator.reset();
    await simulator.events.settled();
    expect(simulator.events.list()).toEqual([]);
    simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ acknowledged: 1 });
    expect(receiver.received).toHaveLength(2);
  });
});

describe('the README', () => {
  const open = testResources();
  const readme = () => readFile(new URL('../README.md', import.meta.url), 'utf8');

  test('the sample has ten to fifteen lines, and prints what the README says', async () => {
    const sample = /```ts\n([^]*?)```/.exec(await readme())?.[1] ?? '';
    const lines = sample.split('\n').filter((line) => line !== '');
    expect(lines.length).toBeGreaterThanOrEqual(10);
    expect(lines.length).toBeLessThanOrEqual(15);

    const { url } = await open.receiver((_received, response) => {
      response.writeHead(receiver.down ? 503 : 200).end();
    });
    const receiver = { url, down: false };
    const body = ts
      .transpile(sample, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext })
      .replace(/import (\{.*\}) from '@call-webhooks\/simulator';/, 'const $1 = main;');
    const printed: unknown[][] = [];
    const log = (...values: unknown[]): void => void printed.push(values);
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the README's own code
    const run = new Function('main', 'receiver', 'console', `return (async () => {${body}})()`) as (
      ...values: unknown[]
    ) => Promise<void>;
    await run(simulator, receiver, { log });
    expect(printed).toEqual([[{ acknowledged: 3 }, 'active']]);
  });

  test('every option and every chaos mode is named', async () => {
    const text = await readme();
    const unknown = startSimulator({ nonsense: 1 } as never);
    const { message } = (await unknown.catch((error: unknown) => error)) as Error;
    const options = message.split('The fields are: ')[1]!.replace('.', '').split(', ');
    expect(options).toContain('whilePaused');
    for (const name of [...options, ...simulator.CHAOS_MODES])
      expect(text).toContain(`\`${name}\``);
  });
});

describe('random values', () => {
  test('a draw depends on the seed, the run and its purpose, and on nothing else', () => {
    const one = new SeededRandom('seed');
    const other = new SeededRandom('seed');
    other.fraction('something', 'else');
    expect(one.fraction('jitter', 'a', 1)).toBe(other.fraction('jitter', 'a', 1));
    expect(one.fraction('jitter', 'a', 1)).not.toBe(one.fraction('jitter', 'a', 2));
    expect(one.id('call', 1)).not.toBe(new SeededRandom('tree').id('call', 1));
    other.run++;
    expect(one.id('call', 1)).not.toBe(other.id('call', 1));
  });

  test('random are spread evenly', () => {
    const random = new SeededRandom('even');
    const hits = Array.from({ length: 2_000 }, (_, n) => random.chance(0.25, 'hit', n)).filter(
      Boolean,
    );
    expect(hits.length).toBeGreaterThan(400);
    expect(hits.length).toBeLessThan(600);
    const faces = new Set(Array.from({ length: 200 }, (_, n) => random.whole(1, 6, 'die', n)));
    expect([...faces].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(random.chance(0, 'never')).toBe(false);
    expect(random.chance(1, 'always')).toBe(true);
  });

  test('ids, UUIDs and secrets look like those of the service', async () => {
    const random = new SeededRandom('looks');
    expect(random.id('call', 1)).toMatch(/^[0-9a-f]{24}$/);
    expect(random.uuid('a', 1)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const secret = random.secret('action', 1);
    const headers = await sign({ secret, body: '{}' });
    await verify({ headers, body: Buffer.from('{}') }, { secret });
  });
});
