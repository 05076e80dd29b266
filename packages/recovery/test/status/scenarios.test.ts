import { describe, expect, it } from '@jest/globals';
import { status, statusLine } from '@call-webhooks/recovery';
import { INCIDENT, INCIDENT_AT, isWithin, ORDINARY, quickHandler } from './ordinary.ts';
import {
  COMPLETED,
  DAY,
  HOUR,
  MINUTE,
  MONDAY,
  RECORDING,
  ServiceModel,
  STARTED,
  type History,
} from './service-model.ts';
import { afterFailure, shown, watch, type Alarm } from './watch.ts';

/** What is shown from some hours before the incident on. */
async function during(history: History, hours: number, before = 4 * HOUR) {
  const { model, alarms } = await watch(
    { ...ORDINARY, callers: [{ perDay: 200 }], ...history },
    { from: INCIDENT - before, incident: INCIDENT, until: INCIDENT + hours * HOUR },
  );
  // The short outages of every day.
  const found = alarms.filter(({ kind }) => kind !== 'store');
  return { model, found, shown: found.map(shown) };
}

const only = (found: readonly Alarm[], kind: Alarm['kind'], by?: Alarm['by']) =>
  found.find((one) => one.kind === kind && one.by === by) as Alarm;

const isDown: History['handler'] = (run) => ({
  ...quickHandler(run),
  isOk: !(run.event === COMPLETED && isWithin(run.time, 2 * HOUR)),
});

describe('a rule that is paused by a 404', () => {
  it.each([
    // A call may have started four hours before.
    [STARTED, 6],
    [COMPLETED, 1.25],
    [RECORDING, 1.25],
  ] as const)('is seen by the other events: %s within %d hours', async (event, hours) => {
    const { model, found, shown } = await during(
      { isGone: (rule, time) => rule.event === event && isWithin(time, HOUR) },
      hours + 0.5,
    );
    expect(shown).toEqual([`urgent silent by other-events ${event}`]);
    const [{ first, last }] = found as [Alarm];
    expect(MONDAY + first - (model.pauses[0]?.at ?? 0)).toBeLessThanOrEqual(hours * HOUR);
    expect(last).toBeGreaterThan(INCIDENT + (hours + 0.3) * HOUR);
  });

  it('is seen when it is the only one, by what came a week ago', async () => {
    const { found, shown } = await during(
      { events: [COMPLETED], isGone: (_rule, time) => isWithin(time, HOUR) },
      3,
    );
    expect(shown).toEqual(['silent by usual-hours']);
    expect(found[0]?.first).toBeLessThanOrEqual(INCIDENT + 2.2 * HOUR);
  });

  it('is that of one tenant alone', async () => {
    const { shown } = await during(
      {
        callers: [
          { tenant: 'a', perDay: 200 },
          { tenant: 'b', perDay: 200 },
        ],
        isGone: (rule, time) =>
          rule.tenant === 'b' && rule.event === COMPLETED && isWithin(time, HOUR),
      },
      2,
    );
    expect(shown).toEqual([`urgent silent by other-events ${COMPLETED} of b`]);
  });
});

describe('a rotation', () => {
  const rotated = (ms: number): History => ({
    isVerified: (rule, time) => !(rule.event === COMPLETED && isWithin(time, ms)),
  });

  it('that is not deployed is seen within six minutes, long before the pause', async () => {
    const { model, found, shown } = await during(rotated(DAY), 1);
    const alarm = only(found, 'rejected');
    expect(shown).toContain(`urgent rejected ${COMPLETED}`);
    expect(new Set(shown.map((one) => one.split(' ')[1]))).toEqual(new Set(['rejected']));
    expect(afterFailure(model, alarm, INCIDENT)).toBeLessThanOrEqual(6 * MINUTE);
    const [pause] = model.pauses;
    expect(pause?.at).toBeGreaterThan(MONDAY + alarm.first + 15 * MINUTE);
    expect(only(found, 'rejected').text).toMatch(
      /failed verification since .*`call:completed`, last verified with the secret `secret-2` at /,
    );
  });

  it('that is deployed has ended, says by what evidence, and is calm soon; a second one is new', async () => {
    const deployed = 12 * MINUTE;
    const again = 60 * MINUTE;
    const isRejected = (time: number) =>
      isWithin(time, deployed) || (isWithin(time, again + 30 * MINUTE) && !isWithin(time, again));
    const model = new ServiceModel({
      ...{ ...ORDINARY, callers: [{ perDay: 200 }] },
      isVerified: (rule, time) => !(rule.event === COMPLETED && isRejected(time)),
    });
    const at = async (ms: number) => {
      await model.agenda.runUntil(INCIDENT_AT + ms);
      const { attention } = await status({ store: model.store, timeZone: 'UTC' });
      return attention;
    };
    await at(-1);
    const isRefused = (time: number) => time >= INCIDENT_AT;
    expect(await at(deployed)).toMatchObject([{ urgent: true, eventName: COMPLETED }]);
    expect((await at(deployed))[0]).not.toHaveProperty('until');
    const [first = 0] = model.failures.filter(isRefused);
    expect(await at(deployed + 3 * MINUTE)).toEqual([]);
    const { notes } = await status({ store: model.store, timeZone: 'UTC' });
    const since = new Date(first).toISOString().slice(11, 16);
    expect(notes.map(({ text }) => text)).toEqual([
      expect.stringMatching(
        `could not be verified from ${since} UTC to 10:1\\d UTC \\(\`signature-mismatch\`\\)\\. The rejections have ended: \`call:completed\`, which had not arrived while deliveries were rejected, was verified with the secret \`secret-2\` at 10:1\\d UTC\\.$`,
      ),
    ]);
    expect(await at(deployed + 9 * MINUTE)).toEqual([]);
    expect(await at(again)).toEqual([]);
    const [second] = await at(again + 12 * MINUTE);
    expect(second).toMatchObject({ kind: 'rejected', urgent: true });
    expect(second?.text).toContain('`call:completed`, last verified with');
    expect(second?.since).toBeGreaterThan(INCIDENT_AT + again);
  });

  it('that follows the deployment of another one at once is shown as a new one', async () => {
    const deployed = 12 * MINUTE;
    const isRejected = (time: number) =>
      isWithin(time, 2 * HOUR) && !(time >= INCIDENT_AT + deployed && isWithin(time, 16 * MINUTE));
    const model = new ServiceModel({
      ...{ ...ORDINARY, callers: [{ perDay: 200 }] },
      isVerified: (rule, time) => !(rule.event === COMPLETED && isRejected(time)),
    });
    const begun = INCIDENT_AT + 16 * MINUTE;
    const found = [];
    for (let minute = 1; minute <= 12; minute++) {
      await model.agenda.runUntil(begun + minute * MINUTE);
      found.push(...(await status({ store: model.store })).attention);
    }
    expect(found.some(({ text }) => text.includes('after earlier rejections had ended'))).toBe(
      true,
    );
    expect(found.at(-1)).toMatchObject({ kind: 'rejected', urgent: true });
    expect(found.at(-1)?.text).toContain('`call:completed`, last verified with');
    expect(found.at(-1)?.since).toBeGreaterThan(begun);
  });

  it('that is deployed after three minutes is no alarm', async () => {
    expect((await during(rotated(3 * MINUTE), 2)).shown).toEqual([]);
  });

  it('of one tenant says nothing about another', async () => {
    const { shown } = await during(
      {
        callers: [
          { tenant: 'a', perDay: 200 },
          { tenant: 'b', perDay: 40 },
        ],
        isVerified: (rule, time) => !(rule.tenant === 'b' && isWithin(time, DAY)),
      },
      1,
    );
    expect(shown).toEqual(['urgent rejected of b']);
  });
});

describe('a handler that fails', () => {
  it('puts the rule at risk, and then pauses it', async () => {
    const { model, found, shown } = await during({ handler: isDown }, 1.5);
    expect(shown).toEqual([`urgent failing ${COMPLETED}`, `urgent silent by retries ${COMPLETED}`]);
    const [failing, silent] = found as [Alarm, Alarm];
    expect(afterFailure(model, failing, INCIDENT)).toBeLessThanOrEqual(6 * MINUTE);
    const pausedAt = (model.pauses[0]?.at ?? 0) - MONDAY;
    expect(failing.first).toBeLessThan(pausedAt - 15 * MINUTE);
    expect(silent.first - pausedAt).toBeLessThanOrEqual(13 * MINUTE);
    // How often the oldest one failed, and since when.
    expect(failing.text).toMatch(/failed 6 times, first at \d\d:0\d \S+ and last at \d\d:\d\d /);
    expect(silent.last).toBe(INCIDENT + 1.5 * HOUR);
  });

  it('with dead letters is not urgent', async () => {
    const { model, shown } = await during({ handler: isDown, runs: 3 }, 3);
    expect(shown).toEqual([`failing ${COMPLETED}`]);
    expect(model.pauses).toEqual([]);
  });

  it('for one event alone puts the rule at risk as well', async () => {
    let callId: string | undefined;
    const { found, shown } = await during(
      {
        handler(run) {
          if (run.event === COMPLETED && isWithin(run.time, DAY)) callId ??= run.callId;
          return { isOk: run.callId !== callId || run.event !== COMPLETED, ms: 100 };
        },
      },
      0.5,
    );
    expect(shown).toEqual([`urgent failing ${COMPLETED}`]);
    expect(found[0]?.text).toMatch(/One event has failed \d times/);
  });

  it('and whose rule was resumed left events behind', async () => {
    const { found, shown } = await during(
      {
        handler: isDown,
        at: [[INCIDENT + 3 * HOUR, (model) => (model.rule(COMPLETED).isActive = true)]],
      },
      5,
    );
    expect(shown).toContain(`missed ${COMPLETED}`);
    expect(only(found, 'silent', 'retries').last).toBeLessThan(INCIDENT + 3.5 * HOUR);
  });
});

describe('a store that is down', () => {
  it('is the one thing to look at, at once and until it is up', async () => {
    const { alarms } = await watch(
      { ...ORDINARY, isStoreDown: (time) => isWithin(time, 10 * MINUTE) },
      { from: INCIDENT - HOUR, incident: INCIDENT, until: INCIDENT + 2 * HOUR },
    );
    const [store, ...others] = alarms;
    expect(store).toMatchObject({ kind: 'store', urgent: true, first: INCIDENT, times: 1 });
    expect(store?.last).toBe(INCIDENT + 9 * MINUTE);
    // Until their retries come, events of that time have failed twice.
    expect(others.filter(({ last }) => last > INCIDENT + 20 * MINUTE)).toEqual([]);
  });
});

describe('a queue', () => {
  it('whose worker is dead is stuck', async () => {
    const { found, shown } = await during({ isWorkerDown: (time) => isWithin(time, 2 * HOUR) }, 3);
    expect(shown).toEqual(['stuck']);
    expect(found[0]?.first).toBeLessThanOrEqual(INCIDENT + 25 * MINUTE);
    expect(found[0]?.last).toBeLessThanOrEqual(INCIDENT + 2 * HOUR + 2 * MINUTE);
  });

  it('is not stuck because jobs take 10 minutes, or clocks differ', async () => {
    const { alarms } = await watch({
      ...{ isWorkerDown: () => false, jobMs: 10 * MINUTE, days: 5 },
      processes: [{ ahead: 4 * MINUTE }, { ahead: -4 * MINUTE }],
    });
    expect(alarms).toEqual([]);
  });
});

describe('a rule that is paused in the first days', () => {
  it('is unknown, with the reason and what is needed, as soon as calls may lack its event', async () => {
    const pausedAt = MONDAY + 12 * HOUR;
    const model = new ServiceModel({
      ...{ ...ORDINARY, callers: [{ perDay: 200 }], events: [STARTED, COMPLETED] },
      isGone: ({ event }, time) => event === COMPLETED && time >= pausedAt,
    });
    await model.agenda.runUntil(pausedAt - MINUTE);
    expect(statusLine(await status({ store: model.store }))).toBe('All 2 events are arriving.');
    for (let minute = 60; minute <= 240; minute += 15) {
      await model.agenda.runUntil(pausedAt + minute * MINUTE);
      const found = await status({ store: model.store });
      const completed = found.events.find(({ eventName }) => eventName === COMPLETED);
      expect([minute, completed?.state]).toEqual([minute, 'unknown']);
      expect(completed?.why).toMatch(
        /`call:started` has arrived for \d+ calls? that may lack it\. It has arrived in \d+ of the 50 ten-minute periods .* calls that are older than 4 hours\.$/,
      );
      expect(statusLine(found)).toContain('too early to tell whether it has stopped');
    }
    await model.agenda.runUntil(pausedAt + 5.5 * HOUR);
    expect((await status({ store: model.store })).attention).toMatchObject([
      { kind: 'silent', urgent: true, eventName: COMPLETED },
    ]);
  });
});

describe('a slow handler', () => {
  it('is named with its time, beside that of the store', async () => {
    const { found, shown } = await during(
      {
        handler: (run) =>
          run.event === COMPLETED && isWithin(run.time, DAY)
            ? { isOk: true, ms: 12_000 }
            : quickHandler(run),
      },
      1,
    );
    expect(shown).toEqual([`slow ${COMPLETED}`]);
    expect(found[0]?.first).toBeLessThanOrEqual(INCIDENT + 20 * MINUTE);
    expect(found[0]?.text).toMatch(/delivery 13\.8 s, handler 13\.8 s, store \d ms/);
  });

  it('is slow since the first slow delivery, until some deliveries in a row are quick', async () => {
    const model = new ServiceModel({
      ...{ ...ORDINARY, callers: [{ perDay: 200 }] },
      handler: (run) =>
        run.event === COMPLETED && isWithin(run.time, 30 * MINUTE)
          ? { isOk: true, ms: 12_000 }
          : quickHandler(run),
    });
    await model.agenda.runUntil(INCIDENT_AT + 30 * MINUTE);
    const { attention } = await status({ store: model.store });
    expect(attention).toMatchObject([{ kind: 'slow', eventName: COMPLETED }]);
    const { rows } = await model.store.log.read({ since: INCIDENT_AT, batches: 10_000 });
    const slow = rows.filter(({ durationMs }) => durationMs > 10_000);
    expect(attention[0]?.since).toBe(Math.min(...slow.map(({ at }) => at)));
    const [of, all] = (/^(\d+) of (\d+) deliveries/.exec(attention[0]?.text ?? '') ?? []).slice(1);
    // Those before the first slow one, in the same ten minutes, are left out.
    expect(Number(all) - Number(of)).toBeLessThanOrEqual(1);
    await model.agenda.runUntil(INCIDENT_AT + 45 * MINUTE);
    expect((await status({ store: model.store })).attention).toEqual([]);
  });
});

describe('nothing is said', () => {
  it('about an ordinary week, with its nights and its weekend, retries, deploys and short outages', async () => {
    const handler: History['handler'] = (run) => ({
      ...quickHandler(run),
      isOk: run.random() > 0.01,
    });
    const { model, alarms } = await watch({
      ...{ ...ORDINARY, handler, days: 9, callers: [{ perDay: 200 }] },
    });
    expect(alarms.filter(({ kind }) => kind !== 'store').map(shown)).toEqual([]);
    expect(model.pauses).toEqual([]);
    expect(model.failures.length).toBeGreaterThan(30);
  });

  it('about one forged request on a quiet night', async () => {
    const { shown } = await during(
      { at: [[INCIDENT - 8 * HOUR, (model) => model.forge()]] },
      1,
      9 * HOUR,
    );
    expect(shown).toEqual([]);
  });

  it('about clocks that differ by eight minutes, and processes that are killed', async () => {
    const { alarms } = await watch({
      ...{ kills: 0.05, days: 10 },
      processes: [{ ahead: 4 * MINUTE }, { ahead: -4 * MINUTE }],
      handler: (run) => ({ ...quickHandler(run), isOk: run.random() > 0.02 }),
    });
    expect(alarms.map(shown)).toEqual([]);
  });
});
