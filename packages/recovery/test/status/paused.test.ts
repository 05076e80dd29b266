import { describe, expect, it } from '@jest/globals';
import type { createClient } from '@call-webhooks/client';
import { reconcile, status, statusLine, type Attention } from '@call-webhooks/recovery';
import { counterName, type OutcomeRow } from '@call-webhooks/core/stores';
import { INCIDENT_AT, isWithin, ORDINARY, quickHandler } from './ordinary.ts';
import {
  COMPLETED,
  DAY,
  HOUR,
  MINUTE,
  ServiceModel,
  STARTED,
  type EventName,
  type History,
  type Run,
} from './service-model.ts';
import { ack, NOW, storeWith } from './written-log.ts';

/** Two hundred calls a day, and what happens from the incident on. */
function serviceWith(history: History) {
  const model = new ServiceModel({ ...ORDINARY, callers: [{ perDay: 200 }], ...history });
  const at = async (ms: number) => {
    await model.agenda.runUntil(INCIDENT_AT + ms);
    return status({ store: model.store, timeZone: 'UTC' });
  };
  return { model, at };
}

const handlerIsDownFor = (ms: number) => (run: Run) => ({
  ...quickHandler(run),
  isOk: !(run.event === COMPLETED && isWithin(run.time, ms)),
});
const resume = (event: EventName) => (model: ServiceModel) => {
  model.rule(event).isActive = true;
};
const AT = 9 * DAY + 10 * HOUR;

/** A run of reconcile on the clock of the model, which handles what failed. */
async function reconcileSince(model: ServiceModel, since: number): Promise<void> {
  const { rows } = await model.store.log.read({ since, only: 'failures', batches: 10_000 });
  for (const { key } of rows) if (key !== undefined) model.store.settle(key, 'handled');
  const { store, agenda } = model;
  const client = {
    calls: { list: async () => ({ results: [], hasNext: false, next: undefined }) },
  } as unknown as ReturnType<typeof createClient>;
  await reconcile({
    client,
    receiver: { deliver: async () => ({ outcome: 'handled' }) },
    store: {
      rememberFor: store.rememberFor,
      loadCursor: (name) => store.loadCursor(name),
      saveCursor: async (name, text) => {
        if (text === undefined) store.cursors.delete(name);
        else store.cursors.set(name, text);
      },
    },
    since: new Date(since),
    clock: { now: () => agenda.now, schedule: () => () => undefined },
  });
}

describe('a rule that is paused after the last retry', () => {
  it('is told until it is resumed: urgent, since the first failure, with all events that failed', async () => {
    const { model, at } = serviceWith({ handler: handlerIsDownFor(2 * HOUR) });
    await at(-1);
    let most = 0;
    const kinds = new Set<string>();
    let since: number | undefined;
    for (let minute = 12; minute <= 300; minute += minute < 70 ? 1 : 30) {
      const { attention } = await at(minute * MINUTE);
      const [item, ...others] = attention.filter(({ eventName }) => eventName === COMPLETED);
      expect(others).toEqual([]);
      expect(item).toMatchObject({ urgent: true });
      const { kind, count } = item as Attention;
      kinds.add(kind);
      since ??= item?.since;
      expect([minute, item?.since]).toEqual([minute, since]);
      expect(count).toBeGreaterThanOrEqual(most);
      most = count;
    }
    expect([...kinds]).toEqual(['failing', 'silent']);
    expect(most).toBeGreaterThan(5);
    expect(model.pauses).toHaveLength(1);
    const { attention } = await at(301 * MINUTE);
    expect(attention[0]?.text).toMatch(
      new RegExp(
        `^\`call:completed\` has stopped arriving: its last delivery failed at 10:\\d\\d UTC, and the retry has not arrived\\. ${String(most)} events have failed since 10:\\d\\d UTC and have not been acknowledged\\. Each time, the error was \`handler-failed\`\\. The rule is probably paused`,
      ),
    );
  });

  it('is still told after a reconcile has handled its events', async () => {
    const failed: OutcomeRow = {
      ...{ at: NOW - 40 * MINUTE, process: 'p', durationMs: 1, source: 'webhook', attempt: 6 },
      ...{ outcome: 'handler-failed', webhookId: 'w', error: 'no contact' },
      ...{ eventName: COMPLETED, key: 'c1:call:completed', callId: 'c1' },
    };
    const ran = counterName('outcome', 'reconcile', 'handled', COMPLETED);
    const store = await storeWith({
      failures: [failed],
      marks: { [counterName('failed', '', COMPLETED, 's')]: failed.at },
      counts: { minutes: { [NOW / MINUTE - 10]: { [ran]: 1 } } },
    });
    const claim = { key: 'c1:call:completed', token: 't', webhookId: 'r', replayUntil: NOW };
    await store.admit({ ...claim, leaseMs: 60_000 });
    await store.complete(claim.key, claim.token);
    expect((await status({ store })).attention).toMatchObject([
      {
        ...{ kind: 'silent', urgent: true, count: 1 },
        text: expect.stringMatching(
          /no contact.* Since then, reconcile has handled it, which does not resume the rule\./,
        ),
      },
    ]);
  });

  it.each([
    ['redrive', 'handled'],
    ['reconcile', 'duplicate'],
  ])('is not told after a %s of settled events (%s)', async (source, outcome) => {
    const rowAt = (minute: number, one: Partial<OutcomeRow>): OutcomeRow => ({
      ...{ at: NOW - minute * MINUTE, process: 'p', durationMs: 1, source: 'webhook', attempt: 1 },
      ...{ outcome: 'handler-failed', webhookId: String(minute), eventName: COMPLETED, ...one },
    });
    const keys = ['c1', 'c2', 'c3'];
    const failures = [
      ...keys.map((key, index) => rowAt(65 + index, { key })),
      ...keys.map((key, index) =>
        rowAt(60 + index / 10, { key, attempt: 2, outcome: 'dead-lettered' }),
      ),
    ];
    const ran = counterName('outcome', source, outcome, COMPLETED);
    const store = await storeWith({
      failures: [...failures, rowAt(60, { key: 'c1' })],
      marks: {
        [counterName('failed', '', COMPLETED, 's')]: NOW - 60 * MINUTE,
        [ack(COMPLETED)]: NOW - 60 * MINUTE,
      },
      counts: { minutes: { [NOW / MINUTE - 10]: { [ran]: 3 } } },
    });
    for (const key of keys) {
      const claim = { key, token: 't', webhookId: `r${key}`, replayUntil: NOW };
      await store.admit({ ...claim, leaseMs: 60_000 });
      await store.complete(key, 't');
    }
    const known = { ...store, rememberFor: DAY };
    expect((await status({ store: known })).attention).toEqual([]);
  });

  it('and resumed while the handler still fails is urgent with the first event that fails again', async () => {
    const { model, at } = serviceWith({
      handler: handlerIsDownFor(5 * HOUR),
      at: [[AT + 2 * HOUR, resume(COMPLETED)]],
    });
    const { attention: before } = await at(2 * HOUR);
    const failuresBefore = model.failures.length;
    let minute = 120;
    while (model.failures.length === failuresBefore) await at((minute += 1) * MINUTE);
    const { attention } = await at((minute + 1) * MINUTE);
    const own = attention.filter(({ urgent }) => urgent);
    expect(own).toMatchObject([{ kind: 'failing', eventName: COMPLETED, since: before[0]?.since }]);
    expect(own[0]?.count).toBeGreaterThan(before[0]?.count ?? Infinity);
  });
});

describe('events of a pause that has ended', () => {
  const handled = {
    handler: handlerIsDownFor(HOUR),
    at: [[AT + 3 * HOUR, resume(COMPLETED)]],
  } satisfies History;

  it('were probably not sent: status says of which time, until a reconcile has covered it', async () => {
    const { model, at } = serviceWith(handled);
    const paused = await at(3 * HOUR - MINUTE);
    expect(paused.attention).toMatchObject([{ kind: 'silent', urgent: true }]);
    const found = await at(3.5 * HOUR);
    const pausedAt = model.pauses[0]?.at ?? 0;
    expect(found.attention).toMatchObject([
      { kind: 'missed', urgent: false, eventName: COMPLETED, count: paused.attention[0]?.count },
    ]);
    const [item] = found.attention as [Attention];
    expect(Math.abs(item.since - pausedAt)).toBeLessThan(2 * MINUTE);
    expect(item.text).toMatch(
      /^`call:completed` did not arrive from 10:\d\d UTC to 13:\d\d UTC, after \d+ events had failed and were not sent again\. Each time, the error was `handler-failed`\. The rule was probably paused, and the service probably sent no events of that time\.$/,
    );
    expect(item.fix).toMatch(
      /^Run `call-webhooks reconcile --since 2026-11-11T06:\d\dZ --to URL` /,
    );
    expect(statusLine(found)).toBe(
      '1 thing needs attention: events of `call:completed` are missing.',
    );

    // Half of that time is not enough.
    await reconcileSince(model, pausedAt + HOUR);
    expect((await at(3.6 * HOUR)).attention).toMatchObject([{ kind: 'missed' }]);
    await reconcileSince(model, INCIDENT_AT);
    expect((await at(3.7 * HOUR)).attention).toEqual([]);
  });

  it('are told for a day', async () => {
    const { at } = serviceWith(handled);
    expect((await at(26 * HOUR)).attention).toMatchObject([{ kind: 'missed' }]);
    expect((await at(28 * HOUR)).attention).toEqual([]);
  });

  it('are told after a 404 as well, by the calls that lack them', async () => {
    const { at } = serviceWith({
      isGone: ({ event }, time) => event === COMPLETED && isWithin(time, HOUR),
      at: [[AT + 3 * HOUR, resume(COMPLETED)]],
    });
    expect((await at(2.9 * HOUR)).attention).toMatchObject([{ kind: 'silent', urgent: true }]);
    const { attention } = await at(3.5 * HOUR);
    expect(attention).toMatchObject([{ kind: 'missed', urgent: false, eventName: COMPLETED }]);
    expect(attention[0]?.text).toMatch(
      /did not arrive from (?:09:5|10:0)\d UTC to 13:\d\d UTC, although `call:\S+` had arrived for \d+ calls for which it should have arrived\./,
    );
    expect(attention[0]?.count).toBeGreaterThan(20);
  });

  it('of a longer time than the store remembers are told until a reconcile has run what it can', async () => {
    const { model, at } = serviceWith({
      isGone: ({ event }, time) => event === COMPLETED && isWithin(time, HOUR),
      at: [[AT + 30 * HOUR, resume(COMPLETED)]],
    });
    const { attention: paused } = await at(29 * HOUR);
    expect(paused[0]?.fix).toContain('`call-webhooks doctor --to URL`');
    const { attention } = await at(31 * HOUR);
    expect(attention).toMatchObject([{ kind: 'missed', eventName: COMPLETED }]);
    const fix = attention[0]?.fix ?? '';
    const begin = Date.parse(/--since (\S+)/.exec(fix)?.[1] ?? '');
    expect(model.agenda.now - begin).toBeLessThanOrEqual(model.store.rememberFor - 29 * MINUTE);
    expect(fix).toMatch(
      / Calls that began before Wednesday 17:30 UTC can't be reconciled safely: the store remembers handled events for 24 hours only, so older ones would run again\.$/,
    );
    expect(fix).not.toContain('--remember-for'); // which is 24 hours unless it is given
    await reconcileSince(model, begin);
    expect((await at(31.2 * HOUR)).attention).toEqual([]);
  });

  it('of a store that remembers longer come with a command that says so', async () => {
    const { model } = serviceWith({
      isGone: ({ event }, time) => event === COMPLETED && isWithin(time, HOUR),
      at: [[AT + 30 * HOUR, resume(COMPLETED)]],
    });
    await model.agenda.runUntil(INCIDENT_AT + 31 * HOUR);
    const { log } = model.store;
    const rememberFor = 7 * DAY;
    const processes = (await log.processes()).map((one) => ({ ...one, rememberFor }));
    const remembering = Object.assign(Object.create(log) as typeof log, {
      marks: () => log.marks(),
      counts: (...of: Parameters<typeof log.counts>) => log.counts(...of),
      read: (...of: Parameters<typeof log.read>) => log.read(...of),
      processes: async () => processes,
    });
    const { attention } = await status({
      store: { rememberFor, log: remembering },
      timeZone: 'UTC',
    });
    expect(attention[0]?.fix).toMatch(
      /^Run `call-webhooks reconcile --since 2026-11-11T0[56]:00Z --remember-for 168h --to URL` with the URL of your receiver\.$/,
    );
  });

  it('are a note if reconcile does not run them by default, or if it may have been a holiday', async () => {
    const started = serviceWith({
      isGone: ({ event }, time) => event === STARTED && isWithin(time, HOUR),
      at: [[AT + 6.5 * HOUR, resume(STARTED)]],
    });
    const one = await started.at(7 * HOUR);
    expect(one.attention).toEqual([]);
    expect(one.notes).toMatchObject([
      {
        text: expect.stringMatching(/`call:started` did not arrive from .* pass it `toEvents`\.$/),
      },
    ]);
    const all = serviceWith({
      events: [COMPLETED],
      isGone: (_rule, time) => isWithin(time, HOUR),
      at: [[AT + 4 * HOUR, resume(COMPLETED)]],
    });
    const other = await all.at(5 * HOUR);
    expect(other.attention).toEqual([]);
    expect(other.notes).toMatchObject([
      {
        text: expect.stringMatching(
          /^Nothing arrived from about 10:\d0 UTC to 14:\d0 UTC\. In the same hours of last week, \d+ calls arrived\. .* If calls were made in that time, run `call-webhooks reconcile --since 2026-11-11T06:00Z --to URL` with the URL of your receiver\.$/,
        ),
      },
    ]);
  });
});

describe('an event that was given up while others of its name arrive', () => {
  it('is told with the time at which they arrived last', async () => {
    const failed: OutcomeRow = {
      ...{ at: NOW - 40 * MINUTE, process: 'p', durationMs: 1, source: 'webhook', attempt: 6 },
      ...{ outcome: 'handler-failed', webhookId: 'w', eventName: COMPLETED, key: 'lost' },
    };
    const other: OutcomeRow = {
      ...{ at: NOW - 35 * MINUTE, process: 'p', durationMs: 1, source: 'webhook' },
      ...{ outcome: 'handled', webhookId: 'w2', eventName: COMPLETED, key: 'other' },
    };
    const store = await storeWith({
      ...{ failures: [failed], rows: [other] },
      marks: { [ack(COMPLETED)]: NOW - 20 * MINUTE },
    });
    await store.admit({ key: 'lost', token: 't', webhookId: 'w', replayUntil: NOW, leaseMs: 9 });
    await store.release('lost', 't');
    const known = { ...store, rememberFor: DAY };
    const { attention } = await status({ store: known, timeZone: 'UTC' });
    expect(attention).toMatchObject([{ kind: 'missed', urgent: false, count: 1 }]);
    expect(attention[0]?.text).toContain(
      'has not been sent again, although others have arrived since, the last one at 13:40 UTC.',
    );
  });
});

describe('the command that runs what was missed', () => {
  it.each([
    ['', ''],
    ['acme', '--tenant acme '],
    ['Acme Ltd', "--tenant 'Acme Ltd' "],
    ['$(id)', "--tenant '$(id)' "],
    ["O'Brien", `--tenant "O'Brien" `],
    ["'$(id)'", '--tenant NAME '],
    ['a`b', '--tenant NAME '],
  ])('names the tenant as a shell takes it: %j', async (tenant, flag) => {
    const failed = counterName('failed', tenant, COMPLETED, 'secret-1');
    const store = await storeWith({ marks: { [failed]: NOW - HOUR } });
    const known = { ...store, rememberFor: DAY };
    const { attention } = await status({ store: known, timeZone: 'UTC' });
    expect(attention).toMatchObject([{ kind: 'silent', by: 'retries' }]);
    expect(attention[0]?.fix).toContain(
      `run \`call-webhooks reconcile --since 2026-11-02T09:00Z ${flag}--to URL\` with`,
    );
  });
});

describe('events that are not expected', () => {
  it('may stop, but their failures are told', async () => {
    const gone = serviceWith({
      isGone: ({ event }, time) => event === COMPLETED && isWithin(time, HOUR),
    });
    expect(statusLine(await gone.at(30 * MINUTE))).toMatch(
      /^No event is overdue; `call:completed` arrived last at (?:09:5|10:0)\d UTC\.$/,
    );
    await gone.at(3 * HOUR);
    const of = { store: gone.model.store, expect: [STARTED, 'call:never'] };
    const calm = await status(of);
    expect(calm.attention).toEqual([]);
    expect(calm.events).toMatchObject([
      { eventName: COMPLETED, state: 'quiet' },
      { eventName: 'call:never', state: 'unknown' },
      { eventName: 'call:recording-available' },
      { eventName: STARTED },
    ]);
    const failing = serviceWith({ handler: handlerIsDownFor(2 * HOUR) });
    await failing.at(20 * MINUTE);
    const { attention } = await status({ store: failing.model.store, expect: [STARTED] });
    expect(attention).toMatchObject([{ kind: 'failing', urgent: true, eventName: COMPLETED }]);
  });
});
