import { completed } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { checkTimestamp, tolerance } = SENTENCES;
const DAY = 86_400;

/** Seconds between the signature and the arrival. */
const AGES: [name: string, when: string, age: number][] = [
  ['4-minutes-ago', '4 minutes ago', 240],
  ['299-seconds-ago', '299 s ago', 299],
  ['300-seconds-ago', '300 s ago, which is not more than 5 minutes', 300],
  ['301-seconds-ago', '301 s ago', 301],
  ['6-minutes-ago', '6 minutes ago', 360],
  ['a-day-ago', 'a day ago', DAY],
  ['4-minutes-ahead', '4 minutes ahead of the clock', -240],
  ['299-seconds-ahead', '299 s ahead of the clock', -299],
  ['300-seconds-ahead', '300 s ahead of the clock, which is not more than 5 minutes', -300],
  ['301-seconds-ahead', '301 s ahead of the clock', -301],
  ['6-minutes-ahead', '6 minutes ahead of the clock', -360],
  ['a-day-ahead', 'a day ahead of the clock', -DAY],
];

/** How far from the limit a vector is that a real clock may run through, in seconds. */
const MARGIN = 60;
const needsExactClock = (age: number) => Math.abs(Math.abs(age) - 300) < MARGIN;

export const clock: Group = {
  name: 'clock',
  title: 'Timestamps and the clock',
  vectors({ one, callId, source }) {
    const seconds = source.now / 1000;
    const texts: [name: string, what: string, text: string][] = [
      ['milliseconds', 'is in milliseconds, not in seconds', String(source.now)],
      ['date', 'is a date, not a number', new Date(source.now).toISOString()],
      ['words', 'is not a number', 'now'],
      ['nan', 'is `NaN`', 'NaN'],
      ['infinity', 'is `Infinity`', 'Infinity'],
      ['letters-after', 'has letters after the digits, so it is not a number', `${seconds}abc`],
      ['letters-before', 'has letters before the digits', `t${seconds}`],
      ['two-numbers', 'has two numbers', `${seconds} ${seconds}`],
      ['negative', 'is negative', `-${seconds}`],
      ['zero', 'is 0', '0'],
    ];
    return [
      ...AGES.map(([name, when, age]) =>
        one(
          Math.abs(age) <= 300 ? 'accept' : 'refuse',
          name,
          `Signed ${when}.`,
          [checkTimestamp, tolerance],
          completed(callId(name)),
          { signed: -age, exactClock: needsExactClock(age) },
        ),
      ),
      ...texts.map(([name, what, timestamp]) =>
        one(
          'refuse',
          name,
          `The timestamp ${what}. The signature covers it and is right.`,
          [checkTimestamp],
          completed(callId(name)),
          { timestamp },
        ),
      ),
    ];
  },
};
