import { describe, expect, it } from '@jest/globals';
import { pgBossQueue, postgresDeadLetters, postgresStore } from '../src/index.ts';
import { recordingBoss } from './recording-boss.ts';
import { recordingClient } from './recording-client.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const TEN_YEARS = 3_650 * DAY;

const store: Create = (options) => postgresStore(recordingClient().client, options);
const letters: Create = (options) => postgresDeadLetters(recordingClient().client, options);
const queue: Create = (options) => pgBossQueue(recordingBoss().boss, options);

/** An option, its limits, what has it, and what it is unless it is given; absent if nobody can see it. */
type Row = [what: string, name: string, min: number, max: number, create: Create, usual?: unknown];
type Create = (options: object) => object;

describe('every number that an option may be', () => {
  it.each<Row>([
    ['postgresStore', 'rememberFor', 10 * MINUTE, TEN_YEARS, store, DAY],
    ['postgresDeadLetters', 'keepFor', HOUR, TEN_YEARS, letters, undefined],
    ['pgBossQueue', 'keepFor', HOUR, TEN_YEARS, queue, undefined],
    ['pgBossQueue', 'maxRuns', 1, 1_000_000, queue],
    ['pgBossQueue', 'expireIn', 1_000, DAY - 1_000, queue],
    ['pgBossQueue', 'retainFor', MINUTE, TEN_YEARS, queue],
  ])(
    '%s: %s is from %d to %d, and is used as it is given',
    (_what, name, min, max, create, ...usual) => {
      const isShown = usual.length > 0;
      if (isShown) expect(create({})).toHaveProperty(name, usual[0]);
      for (const taken of [min, max]) {
        const made = create({ [name]: taken });
        if (isShown) expect(made).toHaveProperty(name, taken);
      }
      for (const refused of [min - 1, max + 1, min + 0.5, `${String(min)} ms`, NaN, null])
        expect(() => create({ [name]: refused })).toThrow(`${name}: expected`);
    },
  );
});
