import { describe, expect, it } from '@jest/globals';
import { counterName, type OutcomeRow } from '@call-webhooks/core/stores';
import { status, statusLine } from '@call-webhooks/recovery';
import { HOUR, MINUTE } from './service-model.ts';
import { ack, NOW, storeWith } from './written-log.ts';

describe('deliveries that cannot be verified', () => {
  const minutes = (names: readonly string[], start = NOW - 8 * MINUTE) =>
    Object.fromEntries(
      [0, 3, 6].map((minute) => [
        Math.floor(start / MINUTE) + minute,
        Object.fromEntries(names.map((name) => [name, 2])),
      ]),
    );

  it('name no event while all of them arrive', async () => {
    const counts = { minutes: minutes([counterName('rejected', 'signature-mismatch', '')]) };
    const marks = { [ack('call:completed')]: NOW - MINUTE };
    const { attention, events } = await status({ store: await storeWith({ counts, marks }) });
    expect(attention).toMatchObject([{ kind: 'rejected', urgent: false, count: 6 }]);
    expect(attention[0]?.text).toContain('All known events have arrived since');
    expect(events[0]?.state).toBe('arrives');
  });

  it('are one thing to look at, however many tenants somebody makes up', async () => {
    const names = Array.from({ length: 50 }, (_, index) =>
      counterName('rejected', 'signature-mismatch', `made-up-${String(index)}`),
    );
    const marks = { [ack('call:completed', 'acme')]: NOW - 12 * HOUR };
    const store = await storeWith({ counts: { minutes: minutes(names) }, marks });
    const { attention } = await status({ store });
    expect(attention).toMatchObject([{ kind: 'rejected', urgent: false, count: 300 }]);
    expect(attention[0]?.text).toContain('50 tenants that have never had a verified delivery');
    expect(attention[0]).not.toHaveProperty('tenant');
  });

  it.each([
    ['timestamp-out-of-tolerance', 'NTP'],
    ['body-already-parsed', 'keepRawBody'],
    ['secret-unavailable', 'secrets manager'],
    ['signature-mismatch', 'rotated'],
  ])('say what to do about %s', async (outcome, fix) => {
    const counts = { minutes: minutes([counterName('rejected', outcome, '')]) };
    const marks = { [ack('call:completed')]: NOW - HOUR };
    const { attention } = await status({ store: await storeWith({ counts, marks }) });
    expect(attention).toMatchObject([
      { kind: 'rejected', urgent: true, eventName: 'call:completed' },
    ]);
    expect(attention[0]?.fix).toContain(fix);
  });
});

describe('rejections of the last minutes', () => {
  const rejected = (tenant: string, at: number, webhookId = 'w'): OutcomeRow => ({
    ...{ at, process: 'p', durationMs: 1, source: 'webhook', outcome: 'signature-mismatch' },
    ...{ webhookId, ...(tenant !== '' && { tenant }) },
  });
  const counted = (tenant: string, at: number) => ({
    [Math.floor(at / MINUTE)]: { [counterName('rejected', 'signature-mismatch', tenant)]: 1 },
  });

  it('are in the line at once, with their time, and the events that have not arrived since are unknown', async () => {
    const firstAt = NOW - 2 * MINUTE + 7_001;
    const marks = {
      [ack('call:started')]: NOW - MINUTE,
      [ack('call:completed')]: NOW - 20 * MINUTE,
    };
    const failures = [rejected('', firstAt)];
    const counts = { minutes: counted('', firstAt) };
    const store = await storeWith({ failures, counts, marks });
    const found = await status({ store, timeZone: 'UTC' });
    expect(found.attention).toEqual([]);
    expect(found.undecided).toEqual([
      { since: firstAt, count: 1, text: expect.stringContaining('too early to tell why') },
    ]);
    expect(found.events).toMatchObject([
      { eventName: 'call:completed', state: 'unknown' },
      { eventName: 'call:started', state: 'arrives' },
    ]);
    expect(found.events[0]?.why).toContain('have failed verification since 13:58 UTC');
    expect(statusLine(found)).toMatch(
      /^1 delivery has failed verification since 13:58 UTC \(`signature-mismatch`\)\. .* 1 of 2 events is arriving; `call:completed` arrived last at 13:40 UTC/,
    );
  });

  it('leave a quiet night quiet, and are forgotten once their retry would have arrived', async () => {
    const at = NOW - 30_000;
    const marks = { [ack('call:completed')]: NOW - 8 * HOUR };
    const store = await storeWith({ counts: { minutes: counted('', at) }, marks });
    const now = await status({ store });
    expect(now.attention).toEqual([]);
    expect(statusLine(now)).toMatch(/too early to tell why: .* Quiet since /);
    const later = await status({ store, now: () => NOW + 9 * MINUTE });
    expect([later.attention, later.undecided]).toEqual([[], []]);
    expect(statusLine(later)).toMatch(/^Quiet since /);
  });

  it('of one tenant leave the events of another one alone, and made-up tenants are one entry', async () => {
    const at = NOW - MINUTE;
    const tenants = ['acme', 'made-up-1', 'made-up-2'];
    const counts = {
      minutes: {
        [at / MINUTE]: Object.fromEntries(
          tenants.flatMap((one) => Object.entries(counted(one, at)[at / MINUTE] ?? {})),
        ),
      },
    };
    const marks = {
      [ack('call:completed', 'acme')]: NOW - 9 * MINUTE,
      [ack('call:completed', 'globex')]: NOW - 9 * MINUTE,
    };
    const { undecided, events } = await status({ store: await storeWith({ counts, marks }) });
    expect(undecided).toMatchObject([{ count: 1, tenant: 'acme' }, { count: 2 }]);
    expect(undecided[0]?.text).toContain('1 delivery of acme has');
    expect(undecided[1]).not.toHaveProperty('tenant');
    expect(events).toMatchObject([
      { tenant: 'acme', state: 'unknown' },
      { tenant: 'globex', state: 'arrives' },
    ]);
  });

  it('are said once: when they need attention, they are no longer undecided', async () => {
    const counts = {
      minutes: { ...counted('', NOW - 6 * MINUTE), ...counted('', NOW - MINUTE) },
    };
    const marks = { [ack('call:completed')]: NOW - 20 * MINUTE };
    const found = await status({ store: await storeWith({ counts, marks }) });
    expect(found).toMatchObject({ attention: [{ kind: 'rejected' }], undecided: [] });
  });

  it('accuse nobody because of a rotation that was mended hours before', async () => {
    const begun = NOW - 5 * HOUR;
    const mended = begun + 10 * MINUTE;
    const forged = NOW - MINUTE;
    const rejections = [begun, begun + 5 * MINUTE, forged];
    const handled: OutcomeRow = {
      ...{ at: mended, process: 'p', durationMs: 1, source: 'webhook', outcome: 'handled' },
      ...{ webhookId: 'verified', eventName: 'call:completed' },
    };
    const store = await storeWith({
      rows: [handled],
      failures: rejections.map((at) => rejected('', at, `w-${String(at)}`)),
      counts: {
        minutes: Object.fromEntries(rejections.flatMap((at) => Object.entries(counted('', at)))),
      },
      marks: { [ack('call:completed')]: NOW - 2 * MINUTE },
    });
    const atOnce = await status({ store, now: () => mended + MINUTE });
    expect(atOnce.attention).toEqual([]);
    expect(atOnce.notes).toMatchObject([{ text: expect.stringContaining('have ended') }]);
    const found = await status({ store });
    expect(found.attention).toEqual([]);
    expect(found.undecided).toMatchObject([{ since: forged, count: 1 }]);
  });
});
