import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { SeededRandom } from '../../src/seeded-random.ts';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

const STATES = ['acknowledged', 'in-flight', 'waiting', 'failed', 'held', 'dropped'] as const;

describeInChromium('the page and the simulator', (chromium) => {
  const open = testResources();

  test('count the same, with every chaos mode at once and a rule that gets paused', async () => {
    const draws = new SeededRandom('a receiver that fails');
    const simulator = await open.simulator({ maxAttempts: 3, slowBodyMs: 2 });
    const receiver = await open.receiver((_received, response, nth) => {
      response.writeHead(draws.chance(0.2, nth) ? 500 : 200).end();
    });
    const gone = await open.receiver(404);
    simulator.rules.forwardTo(receiver.url);
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: gone.url }] });
    simulator.chaos.setAll(0.15);
    const { page, count, tab } = await openInspector(chromium, simulator);
    for (let placed = 0; placed < 60; placed++) simulator.calls.place();
    await simulator.clock.advance('2m');
    const agree = async () => {
      const counts = simulator.events.counts();
      await count('all', simulator.events.list().length);
      for (const state of STATES) await count(state, counts[state] ?? 0);
      await tab(`Calls ${String(simulator.calls.list().length)}`);
      const mails = simulator.outbox.list().length;
      await tab(mails === 0 ? 'Outbox' : `Outbox ${String(mails)}`);
    };
    await agree();
    await page.getByRole('button', { name: 'Until idle' }).click();
    await count('waiting', 0);
    await simulator.clock.runUntilIdle();
    await agree();
    expect(simulator.events.counts()).toMatchObject({ dropped: expect.any(Number) });
    expect(await page.locator('#panel-outbox .card').count()).toBe(simulator.outbox.list().length);

    await page.locator('.chip[data-state=failed]').click();
    const failed = simulator.events.counts().failed ?? 0;
    expect(failed).toBeGreaterThan(0);
    await page.locator(`.timeline li:nth-child(${String(failed)}):last-child`).waitFor();
    await page.getByLabel('Event name').selectOption('call:recording-available');
    const both = { state: 'failed', eventName: 'call:recording-available' } as const;
    const some = simulator.events.list(both).length;
    if (some > 0)
      await page.locator(`.timeline li:nth-child(${String(some)}):last-child`).waitFor();
    else await page.getByText('No event matches these filters.').waitFor();
  });

  test('10,000 events: the latest 200 are shown, and the page stays quick', async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    const rule = simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    simulator.rules.pause(rule._id); // so that they need not all be sent
    const { page, count } = await openInspector(chromium, simulator);
    await page.evaluate(`(() => {
      window.longest = 0;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
      }).observe({ type: 'longtask' });
    })()`);
    for (let placed = 0; placed < 10_000; placed++) {
      simulator.calls.start({ recorded: false });
      if (placed % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await count('dropped', 10_000);
    const last = simulator.events.list().at(-1)!;
    await page
      .locator(`.timeline li:first-child [data-id="${last._id}"][data-state=dropped]`)
      .waitFor();
    expect(await page.locator('.event-row').count()).toBe(200);
    await page.locator('.event-row').first().click();
    await page.locator('#detail').getByRole('heading', { name: '#10000' }).waitFor();
    const longest = await page.evaluate('window.longest');
    process.stdout.write(`10,000 events: the page's longest task took ${String(longest)} ms\n`);
  });

  test('a simulator that was restarted is found again, and shown as it is now', async () => {
    const before = await open.simulator();
    const receiver = await open.receiver();
    before.rules.forwardTo(receiver.url);
    before.calls.start();
    const { page, count } = await openInspector(chromium, before);
    await count('acknowledged', 1);
    await before.close();
    await page.getByText('Connection lost').waitFor();
    const after = await open.simulator({ port: Number(new URL(before.url).port), seed: 2 });
    after.rules.forwardTo(receiver.url);
    for (let placed = 0; placed < 3; placed++) after.calls.start();
    await page.getByText('Live', { exact: true }).waitFor();
    await count('acknowledged', 3);
    expect(await page.locator('.event-row').count()).toBe(3);

    await page.getByRole('button', { name: 'Reset' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
    await page.locator('#welcome').waitFor();
    expect(after.rules.list()).toEqual([]);
  });
});
