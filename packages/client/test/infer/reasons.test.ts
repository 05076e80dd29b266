import { describe, expect, test } from '@jest/globals';
import { inferNames } from '../../src/infer/index.ts';
import { base, inferred } from '../support/inferred.ts';

describe('the reasons', () => {
  test.each([
    ['one completed call is enough', [base], {}],
    [
      'the service number is not the number called',
      [{ ...base, h: '+14155550100' }],
      { calledNumber: 'b' },
    ],
    [
      'an id that stands beside the user makes it unsure',
      [{ ...base, h: 'session-42' }],
      { placedBy: ['a', 'h'] },
    ],
    [
      'unless the recording event names the user',
      [
        { ...base, h: 'session-42' },
        { eventName: 'call:recording-available', callId: 'c1', userId: base.a },
      ],
      { placedBy: 'a' },
    ],
    [
      'or names the other as its workspace',
      [
        { ...base, h: 'w1' },
        { eventName: 'call:recording-available', callId: 'c1', workspaceId: 'w1' },
      ],
      { placedBy: 'a' },
    ],
    ['a status is no user and no name', [{ ...base, h: 'no answer', i: 'ANSWERED' }], {}],
    ['what is not in every event is not the user', [base, { ...base, callId: 'c2', h: 'x1' }], {}],
    [
      'a time that differs between the events of one call is not that of the call',
      [
        { ...base, sent: base.e + 5 },
        { ...base, eventName: 'call:started', g: undefined, sent: base.e },
      ],
      { createdAt: 'e' },
    ],
    [
      'what stays the same for three numbers is not of the person called',
      ['1', '2', '3'].map((n) => ({
        ...base,
        callId: n,
        b: `${base.b}${n}`,
        c: `ann${n}@example.com`,
        d: `Ann Lee ${'i'.repeat(Number(n))}`,
        h: 'agent@example.com',
      })),
      // The agent's address may be the user, as well as the id.
      { placedBy: ['a', 'h'] },
    ],
    [
      'no person known',
      [{ ...base, c: null, d: '' }],
      { calledEmail: undefined, calledName: undefined },
    ],
    ['a single word may be a name', [{ ...base, d: 'Ann' }], { calledName: ['d'] }],
    [
      'one date of call:completed alone may be either',
      [{ ...base, f: undefined }],
      { dialedAt: ['g'], endedAt: ['g'] },
    ],
    [
      'with a call:started that lacks it, it is the end',
      [
        { ...base, f: undefined },
        { ...base, eventName: 'call:started', f: undefined, g: undefined },
      ],
      { dialedAt: undefined },
    ],
    [
      'two equal dates have no order',
      [{ ...base, g: base.f }],
      { dialedAt: ['f', 'g'], endedAt: ['f', 'g'] },
    ],
    ['digits alone are a number where nothing else is', [{ ...base, b: '4930123456' }], {}],
  ])('%s', (_, samples, differs) => {
    const usual = {
      placedBy: 'a',
      calledNumber: 'b',
      calledEmail: 'c',
      calledName: 'd',
      createdAt: 'e',
      dialedAt: 'f',
      endedAt: 'g',
    };
    expect(inferred(samples)).toEqual({ ...usual, ...differs });
  });

  test('no value of a body is repeated', () => {
    const result = JSON.stringify(inferNames([base]));
    for (const value of Object.values(base).slice(1))
      if (typeof value === 'string') expect(result).not.toContain(value);
  });
});
