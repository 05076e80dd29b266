import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, jest } from '@jest/globals';
import type { Around } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import type { Run } from '../../src/internal.ts';
import { createTestReceiver, Lines, NOW, SECONDS, STARTED } from '../support.ts';

const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
const JOB = { webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW, body };
const storage = new AsyncLocalStorage<string>();

/** A layer that writes down when it begins and ends. */
const tracer =
  (name: string, log: string[]): Around =>
  async (run) => {
    log.push(`${name} begins`);
    await run();
    log.push(`${name} ends`);
  };

describe('around', () => {
  it('wraps each run of a handler, the first layer outermost', async () => {
    const log: string[] = [];
    const around = [tracer('outer', log), tracer('inner', log)];
    const { send } = createTestReceiver({
      around,
      on: { 'call:started': () => log.push('handler') },
    });
    expect(await send(STARTED)).toBe('handled');
    expect(log).toEqual(['outer begins', 'inner begins', 'handler', 'inner ends', 'outer ends']);
  });

  it('passes on the event and its context, and carries an AsyncLocalStorage', async () => {
    const seen: unknown[] = [];
    const around: Around = (run, event, { key }) => {
      seen.push(event);
      return storage.run(String(key), run);
    };
    const on = {
      'call:started': async () => void seen.push(await Promise.resolve(storage.getStore())),
    };
    const { send } = createTestReceiver({ around, on });
    await send(STARTED);
    expect(seen).toEqual([STARTED, 'call-1:call:started']);
  });

  it('wraps onUnhandled, custom handlers, and the handlers of workers', async () => {
    const log: string[] = [];
    const around = tracer('layer', log);
    const handle = () => undefined;
    await createTestReceiver({ around, onUnhandled: handle }).send(STARTED);
    await createTestReceiver({ around, custom: { handle } }).send({ a: 1 });
    const process = createJobProcessor({ around, on: { 'call:started': handle } });
    await process(JOB);
    expect(log).toEqual(Array(3).fill(['layer begins', 'layer ends']).flat());
  });

  it.each<[string, Around]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws after the run',
      async (run) => {
        await run();
        throw new Error('no');
      },
    ],
    [
      'catches the error of the handler',
      async (run) => {
        await run().catch(() => undefined);
      },
    ],
    ['does not wait for the handler', (run) => void run()],
  ])('fails the attempt if a layer %s', async (name, around) => {
    const fails = name.includes('handler');
    const on = { 'call:started': () => (fails ? Promise.reject(new Error('no')) : undefined) };
    const { send } = createTestReceiver({ around, on });
    expect(await send(STARTED)).toBe('handler-failed');
  });

  const forgetful: [string, Around][] = [
    ['returns run', (run) => () => run],
    ['resolves with run', (run) => Promise.resolve(run)],
    ['returns nothing', () => undefined],
  ];
  it.each(forgetful)('fails the attempt if a layer never calls run: %s', async (_name, around) => {
    const handle = jest.fn();
    const on = { 'call:started': handle };
    for (const layers of [[around], [tracer('outer', []), around]]) {
      const { send, outcomes } = createTestReceiver({ around: layers, on });
      expect(await send(STARTED)).toBe('handler-failed');
      expect(outcomes[0]?.error?.message).toContain('around did not call run');
    }
    const process = createJobProcessor({ around, on, logger: new Lines() });
    expect(await process(JOB)).toMatchObject({
      status: 'retry',
      error: { message: expect.stringContaining('around did not call run') },
    });
    expect(handle).not.toHaveBeenCalled();
  });

  it('refuses a run that a layer calls after it has ended', async () => {
    let late: Run | undefined;
    const handle = jest.fn();
    const { send } = createTestReceiver({
      around: (run) => void (late = run),
      on: { 'call:started': handle },
    });
    expect(await send(STARTED)).toBe('handler-failed');
    await expect(late?.()).rejects.toThrow('It is too late now');
    expect(handle).not.toHaveBeenCalled();
  });

  it('waits for a handler that a layer forgot to await', async () => {
    let finish = (): void => undefined;
    const work = new Promise<void>((resolve) => (finish = resolve));
    const { send, outcomes } = createTestReceiver({
      around: (run) => void run(),
      on: { 'call:started': () => work },
    });
    const response = send(STARTED);
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcomes).toEqual([]);
    finish();
    expect(await response).toBe('handled');
  });

  it('runs the handler once, however often a layer calls run', async () => {
    let runs = 0;
    const { send } = createTestReceiver({
      around: async (run) => {
        await Promise.all([run(), run()]);
      },
      on: { 'call:started': () => (runs += 1) },
    });
    expect(await send(STARTED)).toBe('handled');
    expect(runs).toBe(1);
  });
});
