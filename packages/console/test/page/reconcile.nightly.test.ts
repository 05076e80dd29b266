import { expect, test } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openConsole, testReceivers } from './open-console.ts';

const HOUR = 3_600_000;

describeInChromium('the console: reconcile', (chromium) => {
  const start = testReceivers();

  test('dry first, then for real: what was missed is run', async () => {
    const simulator = await startSimulator({
      ...{ clock: 'manual', seed: 1, startAt: Date.now() - 2 * HOUR },
    });
    try {
      for (let placed = 0; placed < 3; placed++)
        simulator.calls.place({ durationSeconds: 20, recorded: false });
      await simulator.clock.advance('5m');
      const service = { baseUrl: simulator.url, apiToken: simulator.apiToken };
      const receiver = await start({ service });
      const page = await openConsole(chromium, receiver, '?view=reconcile');
      await page.getByText('No run yet since this process started').waitFor();
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('3 events should have come.').waitFor();
      await page.getByText('Events that should have come (3)').click();
      expect(
        await page
          .getByRole('table', { name: 'Events that should have come' })
          .getByText('call:completed')
          .count(),
      ).toBe(3);
      expect(receiver.logged).toMatchObject([{ action: 'reconcile', dryRun: true }]);

      await page.getByRole('button', { name: 'Reconcile for real …' }).click();
      const dialog = page.getByRole('dialog', { name: 'Run what was missed?' });
      await dialog.getByRole('button', { name: 'Reconcile' }).click();
      await page.getByText('3 missed', { exact: true }).waitFor();
      await page.getByText('3 run now').waitFor();
      await page.getByRole('heading', { name: 'Earlier runs' }).waitFor();
      await page.getByText('Events that were missed (3)').click();
      await page.getByRole('table', { name: 'Missed events' }).getByRole('link').first().click();
      await page
        .getByRole('region', { name: 'Call' })
        .getByText('Handled', { exact: true })
        .waitFor();
      await page.getByText('reconcile').first().waitFor();

      await page.getByRole('link', { name: 'Reconcile' }).click();
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByRole('button', { name: 'Reconcile for real …' }).click();
      await dialog.getByRole('button', { name: 'Reconcile' }).click();
      await page.getByText('Nothing was missed.').waitFor();
      await page.getByText('3 handled before').waitFor();
    } finally {
      await simulator.close();
    }
  });

  test('with a store in memory, the window begins when its process started', async () => {
    const simulator = await startSimulator({
      ...{ clock: 'manual', seed: 1, startAt: Date.now() - 2 * HOUR },
    });
    try {
      simulator.calls.place({ durationSeconds: 20, recorded: false });
      await simulator.clock.advance('90m');
      simulator.calls.place({ durationSeconds: 20, recorded: false });
      await simulator.clock.advance('5m');
      const service = { baseUrl: simulator.url, apiToken: simulator.apiToken };
      const old = await start({ service, memoryFor: HOUR, maxAttempts: 2 });
      const page = await openConsole(chromium, old, '?view=reconcile');
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('The store knows nothing from before').waitFor();
      await page.getByText('1 call looked at. 1 event should have come.').waitFor();
      old.tell({ broken: true });
      await page.getByRole('button', { name: 'Reconcile for real …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Reconcile' }).click();
      await page.getByText('1 failed').waitFor();
      const deliveries = await openConsole(chromium, old, '?view=deliveries');
      await deliveries.getByRole('link', { name: 'handler-failed' }).click();
      const detail = deliveries.getByRole('region', { name: 'Delivery' });
      await detail
        .getByText('The service does not send it again: the next reconcile finds it.')
        .waitFor();
      await detail.getByRole('link', { name: 'Show the call' }).click();
      await deliveries
        .getByRole('region', { name: 'Call' })
        .getByText('the next reconcile finds it')
        .waitFor();
      expect(await deliveries.getByText(/The service sends it again|Set deadLetter/).count()).toBe(
        0,
      );

      const young = await openConsole(
        chromium,
        await start({ service, memoryFor: HOUR / 10 }),
        '?view=reconcile',
      );
      await young.getByRole('button', { name: 'Dry run' }).click();
      await young.getByRole('alert').getByText('There is nothing to look at').waitFor();
      await young.getByText('No run yet since this process started').waitFor();

      const refused = await openConsole(
        chromium,
        await start({ service: { ...service, apiToken: 'an-old-token' } }),
        '?view=reconcile',
      );
      await refused.getByRole('button', { name: 'Dry run' }).click();
      await refused.getByText('Check the apiToken of the client').waitFor();
    } finally {
      await simulator.close();
    }
  });

  test('a service that does not answer is told, and a console without a client says so', async () => {
    const receiver = await start({
      service: { baseUrl: 'http://127.0.0.1:9', apiToken: 'a-token' },
    });
    const page = await openConsole(chromium, receiver, '?view=reconcile');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Failed', { exact: true }).waitFor();
    await page.locator('.run .form-error').waitFor();
    expect(await page.getByText('looked at').count()).toBe(0);
    expect(await page.content()).not.toContain('a-token');
    const without = await openConsole(chromium, await start(), '?view=reconcile');
    await without.getByText('This console has no client to reconcile with').waitFor();
  });
});
