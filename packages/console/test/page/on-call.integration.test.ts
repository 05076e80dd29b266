import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { callCompleted, callStarted, TEST_SECRET } from '@call-webhooks/testing';
import { axeFindings } from '@call-webhooks/ui/test/axe';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page } from 'playwright-core';
import { openConsole, testReceivers } from './open-console.ts';

const WIDTHS = [1440, 390];
const WITHOUT_SERVICE = { baseUrl: 'http://127.0.0.1:9', apiToken: 'a-token' };

/** What is wrong with the looks of a page. */
const findings = async (page: Page) => [
  await axeFindings(page),
  await page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  ),
];

describeInChromium('the console through a rotation, and with tenants', (chromium) => {
  const start = testReceivers();

  test.each(WIDTHS)('a rotated secret keeps its history (%d px)', async (width) => {
    const before = await start({ secret: { id: 'calls', secret: TEST_SECRET } });
    await before.deliver(callStarted());
    await waitFor(async () => (await before.store.log?.read())?.rows.length === 1);
    const fresh = generateSecret();
    const rotated = { id: 'calls', secret: `${fresh},${TEST_SECRET}` };
    const receiver = await start({ file: before.file, secret: rotated });
    const page = await openConsole(chromium, receiver, '', { viewport: { width, height: 900 } });
    const secrets = page.getByRole('table', { name: 'Secrets' }).locator('tbody tr');
    const [first, second, third] = [secrets.nth(0), secrets.nth(1), secrets.nth(2)];
    await first.getByText('New id').waitFor();
    await second.getByText('Earlier deliveries are listed under calls.').waitFor();
    await third.getByText('Renamed').waitFor();
    await receiver.deliver(callStarted());
    await second.getByText('In use').waitFor();
    await receiver.deliver(callStarted(), { secret: fresh });
    await first.getByText('In use').waitFor();
    await second.getByText('Being replaced').waitFor();
    await second.getByText(/verified with calls-[0-9a-f]{8}\. If this is the old secret/).waitFor();
    expect(await findings(page)).toEqual([[], false]);
  });

  test.each(WIDTHS)(
    'the status of one tenant, and whose calls are reconciled (%d px)',
    async (width) => {
      const receiver = await start({ tenants: true, service: WITHOUT_SERVICE });
      await receiver.deliver(callStarted(), {}, 'acme');
      receiver.tell({ broken: true });
      await receiver.deliver(callCompleted(), {}, 'globex');
      const page = await openConsole(chromium, receiver, '', { viewport: { width, height: 900 } });
      const status = page.getByRole('region', { name: 'Status' });
      await status.getByText('call:completed of globex is failing').first().waitFor();
      await page.getByText('Each tenant has its own secrets.').waitFor();
      await page.getByLabel('Tenant').selectOption('acme');
      await page.waitForURL(/tenant=acme/);
      await page.getByText('The status is that of tenant acme.').waitFor();
      await status.getByText('call:started of acme is arriving.').waitFor();
      expect(await status.getByText('globex').count()).toBe(0);
      expect(await findings(page)).toEqual([[], false]);
      await page.getByLabel('Tenant').selectOption('globex');
      await status.getByText('1 thing needs attention').waitFor();
      await page.goto(`${receiver.url}?view=reconcile`);
      await page.getByRole('heading', { name: 'Missed events of tenant acme' }).waitFor();
      expect(await findings(page)).toEqual([[], false]);
    },
  );

  test.each(WIDTHS)(
    'a call whose dead letter was removed waits for nothing (%d px)',
    async (width) => {
      const receiver = await start();
      receiver.tell({ broken: true });
      await receiver.deliver(callCompleted({ callId: 'call-1' }));
      const page = await openConsole(chromium, receiver, '?view=deliveries&call=call-1', {
        viewport: { width, height: 900 },
      });
      const call = page.locator('.call');
      await call.getByText('its dead letter is waiting to be redriven').waitFor();
      await call.getByRole('link', { name: 'Open the dead letter' }).click();
      await page.getByRole('button', { name: 'Remove' }).first().click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('No dead letters').first().waitFor();
      await page.goto(`${receiver.url}?view=deliveries&call=call-1`);
      await call.getByText('No dead letter', { exact: true }).waitFor();
      await call.getByText('so it cannot be redriven').waitFor();
      expect(await call.getByText('waiting to be redriven').count()).toBe(0);
      expect(await findings(page)).toEqual([[], false]);
    },
  );
});
