import { describe, expect, it } from '@jest/globals';
import { type Attention, type Status, statusLine } from '@call-webhooks/recovery';
import { HOUR } from './service-model.ts';
import { NOW } from './written-log.ts';

const item = (given: Partial<Attention>): Attention => ({
  ...{ kind: 'slow', urgent: false, since: NOW - HOUR, count: 3 },
  ...{ text: 'What happened.', fix: 'What to do.', docs: 'https://docs.example/status.html#slow' },
  ...given,
});

/** The line of a status in which `call:started` arrived last so many hours ago. */
const line = (attention: readonly Attention[], hours = 1): string => {
  const arrivedAt = NOW - hours * HOUR;
  const events: Status['events'] = [{ eventName: 'call:started', state: 'arrives', arrivedAt }];
  return statusLine({ at: NOW, attention, events, undecided: [], notes: [], timeZone: 'UTC' });
};

describe('the line of a status that needs attention', () => {
  const queued = item({ kind: 'stuck' });

  it('also says since when nothing has arrived', () => {
    const waiting = '1 thing needs attention: deliveries are waiting in the queue.';
    expect(line([queued], 2)).toBe(waiting);
    expect(line([queued], 15)).toBe(`${waiting} Quiet since Sunday 23:00 UTC.`);
  });

  it('does not call it quiet while deliveries that cannot be verified arrive', () => {
    const rejected = item({ kind: 'rejected', urgent: true, eventName: 'call:started' });
    expect(line([rejected], 15)).toBe(
      '1 thing needs attention: `call:started` cannot be verified.',
    );
    expect(line([{ ...rejected, until: NOW - HOUR }], 15)).toContain('Quiet since Sunday 23:00');
  });

  it('names the events together that have the same problem and the same fix', () => {
    const [one, two, three] = ['call:started', 'call:completed', 'lead'].map((eventName) =>
      item({ eventName }),
    ) as [Attention, Attention, Attention];
    expect(line([one, two, three])).toBe(
      '3 things need attention: `call:started`, `call:completed` and `lead` are slow.',
    );
    expect(line([one, { ...two, fix: 'Something else.', tenant: 'acme' }])).toBe(
      '2 things need attention: `call:started` is slow; `call:completed` of acme is slow.',
    );
    expect(line([one, queued, item({}), item({ tenant: 'acme' })])).toBe(
      '4 things need attention: `call:started` is slow; deliveries are slow; deliveries of acme are slow; deliveries are waiting in the queue.',
    );
  });
});

describe('the line of a status names each kind in its own words', () => {
  const [one, two] = [{ eventName: 'call:started' }, { eventName: 'lead', tenant: 'acme' }];

  it.each([
    [
      'failing',
      'is failing',
      'are failing',
      'deliveries are failing',
      'deliveries of acme are failing',
    ],
    [
      ...['silent', 'has stopped arriving', 'have stopped arriving'],
      ...['nothing is arriving', 'nothing of acme is arriving'],
    ],
    [
      ...['rejected', 'cannot be verified', 'cannot be verified'],
      ...['deliveries cannot be verified', 'deliveries of acme cannot be verified'],
    ],
    [
      ...['stuck', 'is waiting in the queue', 'are waiting in the queue'],
      ...['deliveries are waiting in the queue', 'deliveries of acme are waiting in the queue'],
    ],
    ['slow', 'is slow', 'are slow', 'deliveries are slow', 'deliveries of acme are slow'],
  ] as [Attention['kind'], string, string, string, string][])(
    '%s',
    (kind, ofOne, ofMany, ofAll, ofTenant) => {
      const of = (more: Partial<Attention>) => item({ kind, ...more });
      const [first, second] = [of(one), of(two)];
      expect(line([first])).toBe(`1 thing needs attention: \`call:started\` ${ofOne}.`);
      expect(line([first, second])).toBe(
        `2 things need attention: \`call:started\` and \`lead\` of acme ${ofMany}.`,
      );
      expect(line([of({})])).toBe(`1 thing needs attention: ${ofAll}.`);
      expect(line([of({ tenant: 'acme' }), first])).toBe(
        `2 things need attention: \`call:started\` ${ofOne}; ${ofTenant}.`,
      );
    },
  );

  it('also what is missing, what has ended, and a store that does not answer', () => {
    const missed = (more: object) => item({ kind: 'missed', ...more });
    expect(line([missed(one)])).toBe(
      '1 thing needs attention: events of `call:started` are missing.',
    );
    expect(line([missed(one), missed(two), missed({ tenant: 'acme' })])).toBe(
      '3 things need attention: events of `call:started` and `lead` of acme are missing; events of acme are missing.',
    );
    const ended = item({ kind: 'rejected', tenant: 'acme', until: NOW - 1 });
    expect(line([ended, { ...ended, tenant: undefined }])).toBe(
      '2 things need attention: deliveries of acme could not be verified for a while; deliveries could not be verified for a while.',
    );
    expect(line([item({ kind: 'store', urgent: true }), item({ kind: 'store', fix: 'F' })])).toBe(
      '2 things need attention: the store does not answer; the outcome log cannot be read.',
    );
  });

  it('what is too new to be judged comes first without attention, and last with it', () => {
    const undecided = [
      { since: NOW, count: 1, text: 'First doubt.' },
      { since: NOW, count: 1, text: 'Second doubt.' },
    ];
    const status = {
      ...{ at: NOW, attention: [], events: [], notes: [], timeZone: 'UTC' },
      undecided,
    };
    const none = 'No verified delivery has arrived in the last 30 days.';
    expect(statusLine(status)).toBe(`First doubt. Second doubt. ${none}`);
    expect(statusLine({ ...status, unknown: 'No log.' })).toBe(
      'First doubt. Second doubt. Unknown: No log.',
    );
    expect(statusLine({ ...status, attention: [item(one)] })).toBe(
      '1 thing needs attention: `call:started` is slow. First doubt. Second doubt.',
    );
  });
});

describe('the line of a status in which nothing needs attention', () => {
  const MINUTE = HOUR / 60;
  const lineOf = (events: Status['events']) =>
    statusLine({ at: NOW, attention: [], events, undecided: [], notes: [], timeZone: 'UTC' });
  const arrived = (eventName: string, minutes: number) =>
    ({ eventName, state: 'arrives', arrivedAt: NOW - minutes * MINUTE }) as const;
  const stopped = { eventName: 'lead', state: 'quiet', arrivedAt: NOW - 5 * HOUR } as const;

  it('calls only those events arriving that arrived in the last 15 minutes', () => {
    const [now, before] = [arrived('call:started', 15), arrived('call:completed', 16)];
    expect(lineOf([now, stopped])).toBe(
      '1 of 2 events is arriving; `lead` arrived last at 09:00 UTC.',
    );
    expect(lineOf([now, before, stopped])).toBe(
      '1 of 3 events is arriving; `call:completed` arrived last at 13:44 UTC; `lead` arrived last at 09:00 UTC.',
    );
    expect(lineOf([now, before])).toBe(
      'No event is overdue; `call:completed` arrived last at 13:44 UTC.',
    );
    expect(lineOf([before, stopped])).toBe(
      'No event is overdue; `call:completed` arrived last at 13:44 UTC; `lead` arrived last at 09:00 UTC.',
    );
    expect(lineOf([now])).toBe('`call:started` is arriving.');
    expect(lineOf([now, arrived('', 16)])).toBe(
      'No event is overdue; a custom payload arrived last at 13:44 UTC.',
    );
  });

  it('doubts a quiet time once, although rejections are too new to be judged as well', () => {
    const events = [{ ...stopped, state: 'unknown' }] as const;
    const quiet = 'Quiet since 09:00 UTC.';
    expect(lineOf(events)).toBe(`${quiet} It is too early to tell whether that is normal.`);
    const undecided = [{ since: NOW, count: 1, text: 'A doubt.' }];
    const of = { at: NOW, attention: [], events, notes: [], timeZone: 'UTC' };
    expect(statusLine({ ...of, undecided })).toBe(`A doubt. ${quiet}`);
  });
});
