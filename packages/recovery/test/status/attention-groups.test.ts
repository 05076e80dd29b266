import { expect, it } from '@jest/globals';
import type { Attention, Status } from '@call-webhooks/recovery';
import { groupedAttention, statusOfTenant } from '../../src/internal.ts';
import { HOUR } from './service-model.ts';
import { NOW } from './written-log.ts';

const item = (given: Partial<Attention>): Attention => ({
  ...{ kind: 'slow', urgent: false, since: NOW - HOUR, count: 3 },
  ...{ text: 'What happened.', fix: 'What to do.', docs: 'https://docs.example/status.html#slow' },
  ...given,
});

it('items of one kind, one urgency and one fix are a group, which began with the first of them', () => {
  const [early, first, late] = [3, 5, 1].map((hours) => item({ since: NOW - hours * HOUR })) as [
    Attention,
    Attention,
    Attention,
  ];
  const urgent = item({ urgent: true, since: NOW - 9 * HOUR });
  const [other, fixed] = [item({ kind: 'stuck', docs: 'stuck' }), item({ fix: 'Something else.' })];
  const of = { kind: 'slow', urgent: false, fix: 'What to do.', docs: early.docs };
  expect(groupedAttention([early, urgent, first, other, late, fixed])).toEqual([
    { ...of, since: NOW - 5 * HOUR, items: [early, first, late] },
    { ...of, urgent: true, since: NOW - 9 * HOUR, items: [urgent] },
    { ...of, kind: 'stuck', docs: 'stuck', since: NOW - HOUR, items: [other] },
    { ...of, fix: 'Something else.', since: NOW - HOUR, items: [fixed] },
  ]);
  expect(groupedAttention([])).toEqual([]);
});

it('a tenant is shown its own part of a status, and what names no tenant', () => {
  const of = <Part extends object>(part: Part) => ({
    none: part,
    acme: { ...part, tenant: 'acme' },
    globex: { ...part, tenant: 'globex' },
  });
  const attention = of(item({}));
  const undecided = of({ since: NOW, count: 1, text: 'Too early.' });
  const events = of({ eventName: 'call:started', state: 'arrives' as const });
  const notes = of({ text: 'Ignored.' });
  const only = (names: ('none' | 'acme' | 'globex')[]): Status => ({
    ...{ at: NOW, unknown: 'Why.', timeZone: 'UTC' },
    attention: names.map((name) => attention[name]),
    undecided: names.map((name) => undecided[name]),
    events: names.map((name) => events[name]),
    notes: names.map((name) => notes[name]),
  });
  const all = only(['acme', 'none', 'globex']);
  expect(statusOfTenant(all, 'acme')).toEqual(only(['acme', 'none']));
  expect(statusOfTenant(all, 'globex')).toEqual(only(['none', 'globex']));
  expect(statusOfTenant(all, 'initech')).toEqual(only(['none']));
  expect(statusOfTenant(all, undefined)).toEqual(all);
});
