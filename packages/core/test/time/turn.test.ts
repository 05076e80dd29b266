import { AsyncLocalStorage } from 'node:async_hooks';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { readRawBody } from '../../src/node.ts';
import { atTurnEnd } from '../../src/time/turn.ts';

const LIMITS = { bodyLimit: 1_000, bodyTimeout: 1_000 };

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A request whose body is there at once, all in this turn. */
function request(body: string): IncomingMessage {
  const made = new IncomingMessage(new Socket());
  made.push(body);
  made.push(null);
  return made;
}

describe('atTurnEnd', () => {
  afterEach(() => void jest.useRealTimers());

  it('runs what one turn brought in its order, once, and after the turn', async () => {
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c']) atTurnEnd(() => void seen.push(name));
    await Promise.resolve();
    expect(seen).toEqual([]);
    await nextTurn();
    expect(seen).toEqual(['a', 'b', 'c']);
    await nextTurn();
    expect(seen).toHaveLength(3);
  });

  it('runs what comes meanwhile in a turn of its own', async () => {
    const seen: string[] = [];
    atTurnEnd(() => {
      seen.push('first');
      atTurnEnd(() => void seen.push('second'));
    });
    await nextTurn();
    expect(seen).toEqual(['first']);
    await nextTurn();
    expect(seen).toEqual(['first', 'second']);
  });

  it('lets a crowd through in portions, in order, so that others get their turn between', async () => {
    const seen: number[] = [];
    const portions: number[] = [];
    for (let i = 0; i < 40; i++) atTurnEnd(() => void seen.push(i));
    while (seen.length < 40) {
      await nextTurn();
      portions.push(seen.length);
    }
    expect(portions).toEqual([16, 32, 40]);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it('gives each request of a turn its body, in the async context of its own', async () => {
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

  it("does not stand still under a test's fake timers", async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick'] });
    expect(Buffer.from(await readRawBody(request('x'), LIMITS)).toString()).toBe('x');
  });

  it('works together on what came in one turn: all bodies are there before the first is used', async () => {
    const seen: string[] = [];
    const read = async (name: string) => {
      const made = request(name).on('end', () => seen.push(`${name} came`));
      await readRawBody(made, LIMITS);
      seen.push(`${name} is used`);
    };
    await Promise.all([read('a'), read('b')]);
    expect(seen).toEqual(['a came', 'b came', 'a is used', 'b is used']);
  });
});
