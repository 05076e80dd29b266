import { AsyncLocalStorage } from 'node:async_hooks';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { readRawBody } from '../../src/node.ts';
import { resolveOnImmediate } from '../../src/http/node-body.ts';

const LIMITS = { bodyLimit: 1_000, bodyTimeout: 1_000 };

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A request whose body is there at once, all in this turn. */
function request(body: string): IncomingMessage {
  const made = new IncomingMessage(new Socket());
  made.push(body);
  made.push(null);
  return made;
}

describe('resolveOnImmediate', () => {
  afterEach(() => void jest.useRealTimers());

  it('resolves in order, once, after the turn', async () => {
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c']) resolveOnImmediate((value) => void seen.push(value), name);
    await Promise.resolve();
    expect(seen).toEqual([]);
    await nextTurn();
    await nextTurn();
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('lets at most 64 wait, so that a flood in one turn does not pile up', async () => {
    const seen: number[] = [];
    for (let i = 0; i < 200; i++) resolveOnImmediate((value) => void seen.push(value), i);
    expect(seen).toEqual(Array.from({ length: 136 }, (_none, nth) => 64 + nth));
    await nextTurn();
    expect(seen).toHaveLength(200);
    resolveOnImmediate((value) => void seen.push(value), 200);
    expect(seen).toHaveLength(200);
    await nextTurn();
    expect(seen).toHaveLength(201);
  });

  it('reads all bodies of a turn first, and then processes one after another', async () => {
    const seen: string[] = [];
    const read = async (name: string) => {
      await readRawBody(
        request(name).on('end', () => seen.push(`${name} came`)),
        LIMITS,
      );
      seen.push(`${name} is used`);
      for (let step = 0; step < 10; step++) await Promise.resolve();
      seen.push(`${name} is answered`);
    };
    await Promise.all([read('a'), read('b')]);
    expect(seen).toEqual([
      ...['a came', 'b came'],
      ...['a is used', 'a is answered', 'b is used', 'b is answered'],
    ]);
  });

  it('gives each request of a turn its body, in its own async context', async () => {
    const context = new AsyncLocalStorage<string>();
    const read = async (name: string) => {
      const body = await readRawBody(request(`body of ${name}`), LIMITS);
      return [context.getStore(), Buffer.from(body).toString()];
    };
    const names = ['a', 'b', 'c'];
    expect(await Promise.all(names.map((name) => context.run(name, read, name)))).toEqual(
      names.map((name) => [name, `body of ${name}`]),
    );
  });

  it("works under a test's fake timers", async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick'] });
    expect(Buffer.from(await readRawBody(request('x'), LIMITS)).toString()).toBe('x');
  });
});
