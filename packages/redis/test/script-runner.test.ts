import { describe, expect, it, jest } from '@jest/globals';
import { isOne, ScriptRunner, whole } from '../src/script-runner.ts';

/** The SHA-1 of `return 1`. */
const SHA = 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db';

/** A client to which the server replies so. */
const client = (evalsha: () => Promise<unknown>) => ({
  evalsha: jest.fn(evalsha),
  eval: jest.fn(() => Promise.resolve('whole')),
});
const failing = (message: string) => client(() => Promise.reject(new Error(message)));

describe('a script', () => {
  it('is called by the name that Redis gives it, with texts', async () => {
    const known = client(() => Promise.resolve('by name'));
    const script = new ScriptRunner(known, 'return 1');
    expect(await script.run(['key'], ['a', 5])).toBe('by name');
    expect(await script.run(['key'], [])).toBe('by name');
    expect(known.evalsha.mock.calls).toEqual([
      [SHA, ['key'], ['a', '5']],
      [SHA, ['key'], []],
    ]);
    expect(known.eval).not.toHaveBeenCalled();
  });

  it.each([
    'NOSCRIPT No matching script. Please use EVAL.',
    'NoScriptError: No matching script.',
    'An error was signalled by the server: - NoScript: No matching script',
  ])('is sent whole to a server that does not know it: %s', async (message) => {
    const unknown = failing(message);
    expect(await new ScriptRunner(unknown, 'return 1').run(['key'], ['a', 5])).toBe('whole');
    expect(unknown.eval.mock.calls).toEqual([['return 1', ['key'], ['a', '5']]]);
  });

  it.each(['OOM command not allowed', 'READONLY', 'ERR Unknown: myNoScript'])(
    'fails with the error of the server otherwise: %s',
    async (message) => {
      const refusing = failing(message);
      const run = new ScriptRunner(refusing, 'return 1').run([], []);
      await expect(run).rejects.toThrow(message);
      expect(refusing.eval).not.toHaveBeenCalled();
    },
  );

  it('fails with what the client rejected with, if it is no error', async () => {
    const odd = client(jest.fn<() => Promise<unknown>>().mockRejectedValue('NOSCRIPT'));
    await expect(new ScriptRunner(odd, 'return 1').run([], [])).rejects.toBe('NOSCRIPT');
  });
});

it.each([
  [0, 1],
  [-5, 1],
  [0.2, 1],
  [1, 1],
  [40.5, 41],
  [60_000, 60_000],
])('the server gets %d ms as %d', (ms, expected) => {
  expect(whole(ms)).toBe(expected);
});

it('replies are one as numbers, bigints and texts', () => {
  expect([1, 1n, '1'].map(isOne)).toEqual([true, true, true]);
  expect([0, 0n, '0', 2, 'OK', null].map(isOne)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
