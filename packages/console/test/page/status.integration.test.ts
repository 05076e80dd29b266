import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { callCompleted, callStarted } from '@call-webhooks/testing';
import { axeFindings } from '@call-webhooks/ui/test/axe';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { hasRows, openConsole, readAnew, testReceivers } from './open-console.ts';

const WIDTHS = [1440, 390];
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

const overflows = (page: Page) =>
  page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );

describeInChromium('the console for somebody on call', (chromium) => {
  const start = testReceivers();

  test.each(WIDTHS)('the status stands before any figure (%d px)', async (width) => {
    const receiver = await start({ version: '2.4.1' });
    const viewport = { width, height: 900 };
    const page = await openConsole(chromium, receiver, '', { viewport, withClock: true });
    const status = page.getByRole('region', { name: 'Status' });
    await status.getByText('No verified delivery has arrived in the last 30 days.').waitFor();
    await page.getByRole('heading', { name: 'Receiver ready' }).waitFor();
    await page.getByText('This does not show whether a rule is paused in the service.').waitFor();
    expect(await page.getByText('Ready for deliveries').count()).toBe(0);
    receiver.tell({ broken: true });
    await receiver.deliver(callCompleted());
    receiver.tell({ broken: false });
    await receiver.deliver(callStarted());
    await receiver.written(2);
    await readAnew(page, receiver);
    await status.getByText('1 thing needs attention: call:completed is failing.').waitFor();
    await status.getByText('Look at the dead letters, fix the cause').waitFor();
    expect(await status.getByRole('link', { name: 'More about this' }).count()).toBe(1);
    expect(await status.getAttribute('data-tone')).toBe('wait');
    await status.getByText('Events (2)').click();
    await hasRows(page, 'Status of events', 2);
    const top = async (name: string) => (await page.locator(name).first().boundingBox())?.y ?? 0;
    expect(await top('.status')).toBeLessThan(await top('.tile'));
    await page.getByRole('table', { name: 'Times by event' }).getByText('call:started').waitFor();
    await page.getByRole('link', { name: '2.4.1' }).waitFor();
    expect([await axeFindings(page), await overflows(page)]).toEqual([[], false]);
  });

  test('the status is green while all events arrive, and not while a rejection cannot be judged yet', async () => {
    const receiver = await start();
    await receiver.deliver(callCompleted());
    await receiver.written(1);
    const page = await openConsole(chromium, receiver, '', { withClock: true });
    const status = page.getByRole('region', { name: 'Status' });
    await status.getByText('is arriving').waitFor();
    expect(await status.getAttribute('data-tone')).toBe('good');
    expect(await receiver.deliver(callCompleted(), { secret: OTHER_SECRET })).toBe(401);
    await receiver.deliver(callCompleted()); // so that its event is known to arrive
    await receiver.written(3);
    await readAnew(page, receiver);
    await status.getByText('1 delivery has failed verification since').waitFor();
    expect(await status.getAttribute('data-tone')).toBe('muted');
  });

  test('what needs no action is a note below the line', async () => {
    const receiver = await start();
    await receiver.deliver({ eventName: 'lead/created', callId: 'a' });
    await receiver.written(1);
    const page = await openConsole(chromium, receiver);
    const status = page.getByRole('region', { name: 'Status' });
    await status.getByText('1 delivery of lead/created was acknowledged').waitFor();
    await page.getByText('check each process with npx call-webhooks doctor --to URL').waitFor();
  });

  test('events that are slow for the same reason are shown together', async () => {
    const receiver = await start({ ackWithin: 8_000 });
    receiver.tell({ held: true });
    const delivered = [callStarted, callCompleted].flatMap((event) =>
      ['a', 'b', 'c'].map((callId) => receiver.deliver(event({ callId }))),
    );
    await receiver.holds(delivered.length);
    await delay(5_000); // more than half of ackWithin, and less than all of it
    receiver.tell({ held: false });
    await Promise.all(delivered);
    await receiver.written(6);
    const page = await openConsole(chromium, receiver);
    const status = page.getByRole('region', { name: 'Status' });
    await status
      // In the order in which they arrived, and all were sent at the same time.
      .getByText(/^2 things need attention: call:\w+ and call:\w+ are slow\.$/)
      .waitFor();
    const box = status.getByRole('listitem');
    expect(await box.count()).toBe(1);
    for (const name of ['call:started', 'call:completed'])
      await box.getByText(`3 of 3 deliveries of ${name} since`).waitFor();
    expect(await box.getByText('Find out what the handler is waiting for').count()).toBe(1);
  });

  test.each(WIDTHS)('a bar of the chart leads to its deliveries (%d px)', async (width) => {
    const receiver = await start({ version: '2.4.1' });
    receiver.tell({ broken: 'The CRM responded 503' });
    await receiver.deliver(callCompleted({ callId: 'call-1' }));
    await receiver.written(1);
    const page = await openConsole(chromium, receiver, '', { viewport: { width, height: 900 } });
    await page.locator('.chart rect[data-tone=odd]').first().waitFor();
    await page.locator('.chart .chart-place:has(rect[data-tone=odd])').first().click();
    await page.waitForURL(/view=deliveries.*since=\d+&until=\d+/);
    await hasRows(page, 'Deliveries', 1);
    await page
      .getByRole('table', { name: 'Deliveries' })
      .getByText('The CRM responded 503')
      .waitFor();
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toMatch(
      /^\d{4}-\d\d-\d\dT/,
    );
    await page.getByText('The log goes back to').waitFor();
    await page.getByLabel('Version').selectOption('2.4.1');
    await hasRows(page, 'Deliveries', 1);
    expect([await axeFindings(page), await overflows(page)]).toEqual([[], false]);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
    await page.getByText('No delivery matches').waitFor();
  });

  test.each(WIDTHS)('current failures are grouped by cause (%d px)', async (width) => {
    const receiver = await start({ maxAttempts: 9 });
    for (const [callId, broken] of Object.entries({ a: 500, b: 500, c: 503 })) {
      receiver.tell({ broken: `The CRM responded ${String(broken)}` });
      await receiver.deliver(callCompleted({ callId }));
    }
    await receiver.written(3);
    const page = await openConsole(chromium, receiver, '?view=deliveries', {
      viewport: { width, height: 900 },
    });
    const causes = page.getByRole('table', { name: 'Causes of failures' }).locator('tbody tr');
    await causes.nth(1).waitFor();
    await causes.first().getByText('2 of 2 events').waitFor();
    await causes.first().getByRole('button', { name: 'Show these' }).click();
    await hasRows(page, 'Deliveries', 2);
    expect([await axeFindings(page), await overflows(page)]).toEqual([[], false]);
  });
});
