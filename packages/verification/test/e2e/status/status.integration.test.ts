import { expect, test } from '@jest/globals';
import { reconcile, statusLine } from '@call-webhooks/recovery';
import { explainMissed, type MissedAt, missReasonText } from '@call-webhooks/recovery/internal';
import { testResources } from '../test-resources.ts';
import { startService, type Sender } from './service.ts';

const own = testResources();
const COMPLETED = 'call:completed';

/** The reason of a dry run: not that single deliveries were lost. */
const PAUSED = expect.stringMatching(
  /^Other events arrived, but no `call:completed`.* Its rule was probably paused, changed or removed\./,
) as unknown;

/** A dry run over three hours, with its reasons. */
async function lookUp(
  { store, outside, of }: Awaited<ReturnType<typeof startService>>,
  { client = of().client, tenant }: { client?: Sender['client']; tenant?: string } = {},
) {
  const missed: MissedAt[] = [];
  const result = await reconcile({
    ...{ client, store, dryRun: true, tenant },
    receiver: { deliver: () => Promise.reject(new Error('a dry run delivers nothing')) },
    since: new Date(outside.now - 3 * 3_600_000),
    clock: { now: () => outside.now, schedule: () => () => undefined },
    onEvent(one) {
      if (one.missed) missed.push({ at: one.at.getTime(), eventName: one.event.eventName });
    },
  });
  if (!store.log) throw new Error('The store has no log.');
  const reasonOf = await explainMissed(store.log, missed, { tenant, now: outside.now });
  const at = (time: number) => new Date(time).toISOString();
  const reasons = [...new Set(missed.map(reasonOf))];
  return { ...result, reasons: reasons.map((reason) => missReasonText(reason, { tenant, at })) };
}

test('a rotation that is not deployed is told in time, by the status and the log', async () => {
  const service = await startService(own);
  await service.pass(120);
  await service.settle();
  expect(statusLine(await service.status())).toBe('All 3 events are arriving.');
  expect(service.lines).toEqual([]);

  service.of().rotate(COMPLETED);
  let firstAt = 0;
  const found = async () => {
    if (service.lines.length === 0) return false;
    firstAt ||= service.outside.now;
    await service.settle();
    return (await service.status()).attention.length > 0;
  };
  await service.pass(25, found);
  expect(service.outside.now - firstAt).toBeLessThanOrEqual(6 * 60_000);
  expect(service.of().isPaused(COMPLETED)).toBe(false);
  const { attention } = await service.status();
  expect(attention).toMatchObject([{ kind: 'rejected', urgent: true }]);
  expect(attention[0]?.text).toContain('`call:completed`, last verified with the secret');
  const [line] = service.lines;
  expect(line).toMatchObject({ level: 'warn', fields: { outcome: 'signature-mismatch' } });
  expect(line?.message).toMatch(/Last verified delivery: secret-\w+ \d+ (?:s|min) ago/);
}, 180_000);

test('a rule that is paused by a 404 is silent, and a dry run finds what it missed', async () => {
  const service = await startService(own);
  // So often that the time in which calls complete is known.
  await service.pass(620);
  service.gone.add(`/hook/all/${COMPLETED}`);
  await service.pass(10, async () => service.of().isPaused(COMPLETED));
  expect(service.of().isPaused(COMPLETED)).toBe(true);
  service.gone.clear();
  const pausedAt = service.outside.now;
  await service.settle();
  expect((await service.status()).attention).toEqual([]);

  // The machines write once a second, in which many minutes pass here: every fifth minute waits for them.
  let minutes = 0;
  const isSilent = async () => {
    minutes += 1;
    if (minutes % 5 !== 0) return false;
    await service.settle();
    return (await service.status()).attention.length > 0;
  };
  await service.pass(120, isSilent);
  const { attention, events } = await service.status();
  expect(attention).toMatchObject([
    { kind: 'silent', by: 'other-events', urgent: true, eventName: COMPLETED },
  ]);
  expect(service.outside.now - pausedAt).toBeLessThanOrEqual(75 * 60_000);
  expect(attention[0]?.text).toContain('`call:started` has arrived for');
  expect(events.map(({ eventName, state }) => [eventName, state])).toEqual([
    [COMPLETED, 'attention'],
    ['call:recording-available', 'arrives'],
    ['call:started', 'arrives'],
  ]);
  const { missed, known, reasons } = await lookUp(service);
  expect(missed).toBeGreaterThan(5);
  expect(known).toBeGreaterThan(5);
  expect(reasons).toEqual([PAUSED]);
}, 300_000);

test('of two tenants, one of which is paused, only that one is silent', async () => {
  const service = await startService(own, { tenants: ['acme', 'beta'] });
  await service.pass(620);
  service.gone.add(`/hook/beta/${COMPLETED}`);
  await service.pass(10, async () => service.of('beta').isPaused(COMPLETED));
  await service.pass(80);
  await service.settle();
  const { attention } = await service.status();
  expect(attention).toMatchObject([
    { kind: 'silent', by: 'other-events', tenant: 'beta', eventName: COMPLETED },
  ]);
  expect(statusLine(await service.status())).toBe(
    '1 thing needs attention: `call:completed` of beta has stopped arriving.',
  );
  const { client } = service.of('beta');
  await expect(lookUp(service, { client })).rejects.toThrow(
    'the store has deliveries of tenants: acme, beta',
  );
  const { missed, reasons } = await lookUp(service, { client, tenant: 'beta' });
  expect(missed).toBeGreaterThan(5);
  expect(reasons).toEqual([PAUSED]);
}, 300_000);

test.each([
  ['puts the rule at risk, and pauses it in the end', false],
  ['with dead letters puts no rule at risk', true],
])(
  'a handler that fails %s',
  async (_what, hasDeadLetters) => {
    const service = await startService(own, { hasDeadLetters });
    await service.pass(60);
    service.outside.isCrmDown = true;
    await service.pass(16);
    await service.settle();
    const { attention } = await service.status();
    expect(attention).toMatchObject([
      { kind: 'failing', urgent: !hasDeadLetters, eventName: COMPLETED },
    ]);
    expect(attention[0]?.text).toMatch(
      hasDeadLetters
        ? /`call:completed` events? (?:has become a dead letter|have become dead letters) since/
        : /failed \d times, first at \d\d:\d\d \S+ and last at \d\d:\d\d/,
    );
    await service.pass(40);
    await service.settle();
    const later = await service.status();
    expect(service.of().isPaused(COMPLETED)).toBe(!hasDeadLetters);
    const urgent = later.attention.filter((one) => one.urgent);
    if (hasDeadLetters) expect(urgent).toEqual([]);
    else expect(urgent).toMatchObject([{ kind: 'silent', by: 'retries', eventName: COMPLETED }]);
  },
  180_000,
);
