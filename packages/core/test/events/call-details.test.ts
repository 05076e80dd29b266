import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { callDetails } from '../../src/index.ts';
import { DEFAULT_FIELD_NAMES } from '../../src/internal.ts';
import { SEED } from '../support.ts';

const EVENT = {
  userId: 'user-1',
  createdAt: '2026-04-01T10:00:00.000Z',
  toPhoneNumber: '+15550100',
  recipientEmail: 'a@example.test',
  recipientName: 'A B',
  startedAt: 1_760_000_000_000,
  endedAt: '2026-04-01T10:05:00Z',
};

describe('callDetails', () => {
  it('returns the seven fields by meaning', () => {
    expect(callDetails(EVENT)).toEqual({
      placedBy: 'user-1',
      createdAt: new Date('2026-04-01T10:00:00.000Z'),
      calledNumber: '+15550100',
      calledEmail: 'a@example.test',
      calledName: 'A B',
      dialedAt: new Date(1_760_000_000_000),
      endedAt: new Date('2026-04-01T10:05:00Z'),
    });
  });

  it('reads the configured names', () => {
    const names = { calledNumber: 'dialed', placedBy: undefined };
    const details = callDetails({ ...EVENT, dialed: '+15550199', undefined: 'other' }, names);
    expect(details.calledNumber).toBe('+15550199');
    expect(details.calledName).toBe('A B');
    expect(details.placedBy).toBeUndefined();
  });

  it('takes nothing from the prototype', () => {
    expect(callDetails({}, { placedBy: 'constructor', calledName: 'toString' })).toEqual(
      callDetails({}),
    );
    expect(callDetails(Object.create(EVENT) as object)).toEqual(callDetails({}));
  });

  it('never throws, and never returns an odd value', () => {
    const odd = fc.dictionary(
      fc.constantFrom(...Object.values(DEFAULT_FIELD_NAMES)),
      fc.anything(),
    );
    fc.assert(
      fc.property(odd, (event) => {
        const details = callDetails(event);
        for (const name of ['placedBy', 'calledNumber', 'calledEmail', 'calledName'] as const)
          if (details[name] !== undefined) expect(details[name]).toMatch(/[^]/);
        for (const name of ['createdAt', 'dialedAt', 'endedAt'] as const)
          if (details[name] !== undefined) expect(details[name].getTime()).not.toBeNaN();
      }),
      { seed: SEED },
    );
  });

  it.each([
    ['yesterday'],
    [''],
    [{}],
    [NaN],
    [1e20],
    ['2026-99-99'],
    ['12'],
    ['on 2026-04-01'],
    [['2026-04-01']],
  ])('takes %j for no time', (createdAt) => {
    expect(callDetails({ createdAt }).createdAt).toBeUndefined();
  });
});
