import { describe, expect, test, afterEach } from '@jest/globals';
import { PROBES } from '../src/grader/probes.ts';
import { scoreOf } from '../src/grader/score.ts';
import { gradesOf } from './support/grade-receiver.ts';
import { SENTENCES } from '../../contract/src/vectors/sentences.ts';
import { once } from '../src/grader/probes/duplicates.ts';
import { SPEC } from '../src/grader/spec.ts';
import { TestedReceiver } from '../src/grader/tested-receiver.ts';
import { faultyReceiver, type FaultyReceiver } from './support/faulty-receiver.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

/** The faults, and further probes, that a probe needs to fail. By default a fault has the probe's name. */
const FAULTS: Readonly<Record<string, { faults?: string[]; after?: string[] }>> = {
  'changed-id': { faults: ['forged'] },
  'changed-timestamp': { faults: ['forged'] },
  'changed-body': { faults: ['forged'] },
  'replay-race': { faults: ['replay-race', 'race'] },
  'lost-answer-retry': { faults: ['retry'] },
  'no-effect-of-refused': { after: ['forged'] },
  'never-404': { after: ['forged'] },
};
/** So that a busy machine makes no difference. */
const PATIENT = {
  retryForMs: 60_000,
  effectsWithinMs: 60_000,
  acknowledgeWithinMs: 60_000,
  restartWithinMs: 60_000,
};
const binding = PROBES.filter(({ weight }) => weight > 0);

// Side by side, as they mostly wait: the one that takes longest begins first.
test.concurrent('a receiver without faults gets 100 points', async () => {
  const grades = await gradesOf([], undefined, PATIENT);
  expect(grades.filter(({ result }) => result === 'fail' || result === 'skipped')).toEqual([]);
  expect(scoreOf(grades).points).toBe(100);
});

test.concurrent('no handler runs unless it is allowed', async () => {
  const grades = await gradesOf([], undefined, {
    ...PATIENT,
    runHandlers: false,
    effectsUrl: undefined,
  });
  const skipped = grades.filter(({ result }) => result === 'skipped').map(({ saw }) => saw);
  expect(new Set(skipped)).toEqual(new Set(['needs --run-handlers']));
  expect(scoreOf(grades)).toMatchObject({ points: 100, skipped: skipped.length });
});

test.concurrent('where every delivery is refused, refusals show nothing', async () => {
  const grades = await gradesOf(['authentic']);
  expect(scoreOf(grades).points).toBeLessThan(10);
});

test.concurrent(
  'effects that did not survive the restart are not held against the receiver',
  async () => {
    const grades = await gradesOf(['effects-lost'], ['restart-duplicate', 'restart'], PATIENT);
    expect(grades.find(({ probe }) => probe.id === 'restart-duplicate')).toMatchObject({
      result: 'skipped',
      saw: 'the list of effects did not survive the restart',
    });
  },
);

describe('a receiver with one fault fails the probe for it', () => {
  test.concurrent.each(binding.map(({ id }) => [id]))('%s', async (id) => {
    const { faults = [id], after = [] } = FAULTS[id] ?? {};
    const grades = await gradesOf(faults, [id, ...after]);
    expect(grades.find(({ probe }) => probe.id === id)).toMatchObject({ result: 'fail' });
    expect(scoreOf(grades).points).toBeLessThan(100);
  });
});

const started: FaultyReceiver[] = [];
afterEach(() => Promise.all(started.splice(0).map((one) => one.close())));

async function check(fault: string, ...flags: string[]) {
  const receiver = await faultyReceiver([SECRET], [fault]);
  started.push(receiver);
  const only = ['--only', 'basics,unsigned,forged,unknown-fields,call-started,optional-fields'];
  const argv = ['check', '--deep', '--to', receiver.url, ...only, ...flags];
  return run(argv, { env: { CALL_WEBHOOK_SECRET: SECRET } });
}

describe('a receiver that refuses what the interface does not show', () => {
  test('an event that it does not know is no fault, and --run-handlers is asked for', async () => {
    const { code, stdout, stderr } = await check('refuses-unknown');
    expect(stdout).not.toContain('FAILED');
    expect(stdout).toMatch(/skipped +authentic +422/);
    expect(stderr).toContain('--run-handlers');
    expect(code).toBe(1);
    expect(await check('refuses-unknown', '--run-handlers')).toMatchObject({ code: 0 });
  });

  test('guessed field names are no fault, and --field-name is asked for', async () => {
    const { code, stdout, stderr } = await check('requires-owner', '--run-handlers');
    expect(stdout).not.toContain('FAILED');
    expect(stderr).toContain('--field-name');
    expect(code).toBe(1);
    const named = ['--run-handlers', '--field-name', 'placedBy=owner'];
    expect(await check('requires-owner', ...named)).toMatchObject({ code: 0 });
  });

  test('a wrong secret is still a fault', async () => {
    const { code, stdout } = await check('authentic');
    expect(stdout).toMatch(/FAILED +authentic/);
    expect(code).toBe(1);
  });
});

describe('effects of a queue', () => {
  class Queue extends TestedReceiver {
    /** The number of effects after so many milliseconds. */
    after: (ms: number) => number = () => 1;
    #waited = 0;
    override pause(ms: number) {
      this.#waited += ms;
      return Promise.resolve();
    }
    override effectsOf = () => Promise.resolve(this.after(this.#waited));
  }
  const queue = () =>
    new Queue({
      ...{ url: 'http://127.0.0.1/hook', secret: SECRET, runHandlers: true, timeoutMs: 1_000 },
      ...{ retryForMs: 0, effectsWithinMs: 60_000, acknowledgeWithinMs: 1_000 },
      signal: new AbortController().signal,
    });

  test('may take as long as --effects-within', async () => {
    const receiver = queue();
    receiver.after = (ms) => (ms < 20_000 ? 0 : 1);
    expect(await once(receiver, receiver.event())).toMatchObject({ result: 'pass' });
  });

  test('are counted late if the answer is 202', async () => {
    const receiver = queue();
    receiver.after = (ms) => (ms < 5_000 ? 1 : 2);
    receiver.statuses.set(202, 2);
    expect(await once(receiver, receiver.event())).toMatchObject({ result: 'fail' });
  });
});

/** Of the sections Call webhook body, Receiver contract, and Errors. */
const FURTHER = [
  'The service sends an HTTP POST to the receiver URL configured in the action.',
  'Unlike `call:recording-available`, this body includes the number that was called and, when known, the name and email address of the person called.',
  'Read as the URL no longer existing. The rule is paused at once without retry, and its owner is emailed (workspace admins for a workspace rule).',
  'Retried about every 5 minutes, a limited number of times. The rule is paused if the last attempt fails.',
];

test('every reason is a sentence of the interface', () => {
  const sentences = [...Object.values(SENTENCES).map(({ text }) => text), ...FURTHER];
  for (const { section, text } of Object.values(SPEC))
    if (section !== 'Not shown')
      expect(sentences.filter((one) => one.includes(text))).not.toEqual([]);
});
