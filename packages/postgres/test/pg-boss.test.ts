import { describe, expect, it } from '@jest/globals';
import { checkBoss, isPgBoss10, type PgBossClient } from '../src/pg-boss.ts';
import { recordingBoss } from './recording-boss.ts';

const method = () => undefined;
const { boss } = recordingBoss();
const check = (what: unknown) => () => {
  checkBoss('pgBossQueue', what as PgBossClient);
};
const lacks = (name: string) =>
  `Invalid pg-boss of pgBossQueue: it has no ${name}(). Pass an instance of pg-boss 10 or 12.`;

describe('what is given as pg-boss', () => {
  it.each(['createQueue', 'send', 'getJobById', 'getQueue', 'fetch', 'complete', 'fail', 'getDb'])(
    'is refused without %s()',
    (name) => {
      expect(check({ ...boss, [name]: undefined })).toThrow(lacks(name));
      expect(check({ ...boss, [name]: 'a text' })).toThrow(lacks(name));
    },
  );

  it.each([undefined, null, 'postgres:///calls', 5])('is refused if it is %p', (what) => {
    expect(check(what)).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(lacks('createQueue')),
      }),
    );
  });

  it('is refused if it is pg-boss 11, with what to install', () => {
    expect(check({ ...boss, supervise: method })).toThrow(
      'Invalid pg-boss of pgBossQueue: this is pg-boss 11 or an early 12. Install pg-boss 12 (npm install pg-boss@12, from 12.38, on Node 22.12 or newer) or pg-boss 10 (npm install pg-boss@10).',
    );
  });

  it.each<[string, object, boolean]>([
    ['10', boss, true],
    ['12', { ...boss, supervise: method, findJobs: method }, false],
  ])('is taken if it is pg-boss %s, and told apart', (_version, taken, isTen) => {
    expect(check(taken)).not.toThrow();
    expect(isPgBoss10(taken as PgBossClient)).toBe(isTen);
  });
});
