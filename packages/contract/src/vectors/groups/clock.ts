import { completed } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { checkTimestamp, tolerance } = SENTENCES;
const DAY = 86_400;

/** Seconds between the signature and the arrival. */
const AGES: [name: string, when: string, age: number][] = [
  ['299-seconds-ago', '299 s ago', 299],
  ['300-seconds-ago', '300 s ago, which is not more than 5 minutes', 300],
  ['301-seconds-ago', '301 s ago', 301],
  ['a-day-ago', 'a day ago', DAY],
  ['299-seconds-ahead', '299 s ahead of the clock', -299],
  ['300-seconds-ahead', '300 s ahead of the clock, which is not more than 5 minutes', -300],
  ['301-seconds-ahead', '301 s ahead of the clock', -301],
  ['a-day-ahead', 'a day ahead of the clock', -DAY],
];

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
      ['letters-behind', 'has letters behind the digits, so it is not a number', `${seconds}abc`],
      ['letters-in-front', 'has letters in front of the digits', `t${seconds}`],
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
          { signed: -age },
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
