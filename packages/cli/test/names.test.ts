import { expect, test } from '@jest/globals';
import { run } from './support/run.ts';

// The flags that say what the service calls something: `--field-name placedBy=owner`, `--wire callsField=items`.

const TIMES = { createdAt: 'loggedAt', dialedAt: 'startTime', endedAt: 'endTime' };
const FIELDS = {
  ...{ placedBy: 'owner', ...TIMES, calledNumber: 'phone' },
  ...{ calledEmail: 'email', calledName: 'contact' },
};
const WIRE = {
  ...{ nextParam: 'cursor', nextField: 'paging.next', hasNextField: 'paging.hasMore' },
  ...{ limitParam: 'pageSize', callsField: 'items', secretField: 'action.secret' },
  requestIdHeader: 'x-trace-id',
};
type Flag = '--field-name' | '--wire';

const SERVICE = ['--base-url', 'http://127.0.0.1:2', '--api-token', 't'];
/** Each command that takes such a flag, and the names that there are, each with an example. */
const COMMANDS: readonly (readonly [string, readonly string[], Flag, Record<string, string>])[] = [
  ['trigger', ['trigger', 'call'], '--field-name', FIELDS],
  ['simulate', ['simulate', '--port', '0'], '--field-name', FIELDS],
  ['check', ['check', '--to', '3000'], '--field-name', FIELDS],
  ['reconcile', ['reconcile', '--since', '1h', '--to', '3000'], '--field-name', TIMES],
  ['calls', ['calls', ...SERVICE], '--wire', WIRE],
  ['activity', ['activity', ...SERVICE], '--wire', WIRE],
  ['recording', ['recording', '1', ...SERVICE], '--wire', WIRE],
  ['rotate', ['rotate', '1', '2', '--show-secret', '--yes', ...SERVICE], '--wire', WIRE],
];

test.each(COMMANDS)(
  '%s says what is wrong with a pair, with an example that fits its name',
  async (_name, argv, flag, names) => {
    const [[first, example] = ['', '']] = Object.entries(names);
    const form = (pair: string) => `${flag} ${pair} is not of the form name=value.`;
    const list = `Names: ${Object.keys(names).join(', ')}.`;
    const rows: (readonly [pair: string, message: string, fix: string])[] = [
      ...Object.entries(names).flatMap(([name, value]) =>
        [name, `${name}=`, `${name} = x`, `${name}=x y`].map(
          (pair) => [pair, form(pair), `Example: ${flag} ${name}=${value}`] as const,
        ),
      ),
      ...['', 'x', '=x', 'toString'].map(
        (pair) => [pair, form(pair), `Example: ${flag} ${first}=${example}`] as const,
      ),
      ['qqq=x', `${flag} qqq: there is no such name.`, list],
      ['toString=x', `${flag} toString: there is no such name.`, list],
      [`${first}s=x`, `${flag} ${first}s: there is no such name.`, `Did you mean ${first}?`],
    ];
    for (const [pair, message, fix] of rows) {
      // The second of two is looked at as well.
      const given = [...argv, flag, `${first}=x`, flag, pair];
      const { code, stdout, stderr } = await run(given, { columns: 1_000 });
      expect({ code, stdout, stderr }).toEqual({
        ...{ code: 2, stdout: '', stderr: `error: ${message}\nfix:   ${fix}\n` },
      });
    }
  },
);

test.each(COMMANDS.filter(([, , flag]) => flag === '--field-name'))(
  '%s refuses a field that would have two meanings, as a receiver does',
  async (_name, argv, flag) => {
    const pairs = ['createdAt=at', 'endedAt=at'].flatMap((pair) => [flag, pair]);
    const { code, stdout, stderr } = await run([...argv, ...pairs], { columns: 1_000 });
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 2, stdout: '' },
      stderr:
        'error: --field-name endedAt must be another name than createdAt has, or undefined if there is no such field.\nfix:   Example: --field-name endedAt=endTime\n',
    });
  },
);
