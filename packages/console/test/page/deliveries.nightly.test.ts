import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { callCompleted, callStarted } from '@call-webhooks/testing';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { hasRows, openConsole, testReceivers } from './open-console.ts';

const rows = (page: Page) => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
const shows = (page: Page, count: number) => hasRows(page, 'Deliveries', count);

describeInChromium('the console: deliveries', (chromium) => {
  const start = testReceivers();

  test('the outcome in words, search and filters in the address, reload and Back', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver, '?view=deliveries');
    await page.getByText('No delivery has come since this process started').waitFor();
    await receiver.deliver(callStarted({ callId: 'call-a' }));
    await receiver.deliver(callStarted({ callId: 'call-a' }));
    await receiver.deliver(callCompleted({ callId: 'call-b' }));
    receiver.tell({ broken: true });
    await receiver.deliver(callCompleted({ callId: 'call-c' }));
    await shows(page, 4);

    await page.getByRole('link', { name: 'duplicate' }).click();
    const detail = page.getByRole('region', { name: 'Delivery' });
    await detail
      .getByText('This event was already handled. The handler did not run again.')
      .waitFor();
    await detail.getByText('The service is done with it.').waitFor();
    await detail.getByText('Nothing to do. The service delivers at least once').waitFor();
    await detail.getByText('call-a:call:started').waitFor();
    await page.reload();
    await detail.getByRole('heading', { name: 'duplicate' }).waitFor();
    await page.goBack();
    await detail.waitFor({ state: 'detached' });

    await page.getByLabel('Outcome').selectOption('dead-lettered');
    await shows(page, 1);
    await rows(page).getByText('call-c').waitFor();
    await page.reload();
    await shows(page, 1);
    await page.goBack();
    await shows(page, 4);
    await page.getByLabel('Search').fill('CALL-B');
    await shows(page, 1);
    await rows(page).getByText('call-b').waitFor();
    expect(new URL(page.url()).searchParams.get('text')).toBe('CALL-B');
    await page.getByLabel('Event').selectOption('call:started');
    await page.getByText('No delivery matches').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await shows(page, 4);
    await page.getByLabel('Result').selectOption('Failed');
    await page.getByText('No delivery matches').waitFor();
  });

  test('a click anywhere in a row opens it, but not a selection, nor another link', async () => {
    const receiver = await start();
    await receiver.deliver(callStarted({ callId: 'call-a' }));
    await receiver.deliver(callStarted({ callId: 'call-b' }));
    const page = await openConsole(chromium, receiver, '?view=deliveries&text=call');
    const detail = page.getByRole('region', { name: 'Delivery' });
    await rows(page).nth(1).getByText('call:started').click();
    await detail.getByText('call-a:call:started').waitFor();
    expect(new URL(page.url()).searchParams.get('text')).toBe('call');
    await page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
    await page.locator('a[id^=delivery-]:focus').waitFor();

    const cell = rows(page).first().getByText('call:started');
    const { x = 0, y = 0, width = 0, height = 0 } = (await cell.boundingBox()) ?? {};
    await page.mouse.move(x + 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width - 2, y + height / 2, { steps: 4 });
    await page.mouse.up();
    expect(await page.evaluate('String(getSelection())')).toContain('started');
    expect([await detail.count(), new URL(page.url()).searchParams.has('delivery')]).toEqual([
      0,
      false,
    ]);
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      rows(page).first().getByRole('link', { name: 'handled' }).click({ button: 'middle' }),
    ]);
    await opened.getByRole('region', { name: 'Delivery' }).getByText('call-b:').waitFor();
    await rows(page).first().getByRole('link', { name: 'call-b' }).click();
    await page.getByRole('region', { name: 'Call' }).waitFor();
    expect(await detail.count()).toBe(0);
  });

  test('a call over its three events, to its dead letter', async () => {
    const receiver = await start();
    await receiver.deliver(callStarted({ callId: 'call-a' }));
    await receiver.deliver(callStarted({ callId: 'other' }));
    receiver.tell({ broken: true });
    await receiver.deliver(callCompleted({ callId: 'call-a' }));
    const page = await openConsole(chromium, receiver, '?view=deliveries');
    await rows(page).getByRole('link', { name: 'call-a' }).first().click();
    const call = page.getByRole('region', { name: 'Call' });
    const event = (name: string) => call.locator('.call > li', { hasText: name });
    await event('call:started').getByText('Handled', { exact: true }).waitFor();
    await event('call:completed').getByText('It failed for good').waitFor();
    await event('call:recording-available').getByText('Not seen').waitFor();
    await shows(page, 2);
    await page.reload();
    await call.getByText('Not seen').waitFor();
    await event('call:completed').getByRole('link', { name: 'Open the dead letter' }).click();
    await page
      .getByRole('region', { name: 'Dead letter' })
      .getByText('The CRM refused')
      .first()
      .waitFor();
    await page.goBack();
    await call.getByText('Not seen').waitFor();
  });

  test('older deliveries, page by page', async () => {
    const receiver = await start();
    for (let made = 0; made < 60; made++) await receiver.deliver(callStarted());
    const page = await openConsole(chromium, receiver, '?view=deliveries');
    await shows(page, 50);
    await page.getByRole('button', { name: 'Older' }).click();
    await shows(page, 10);
    await page.reload();
    await shows(page, 10);
    await page.getByRole('button', { name: 'Latest' }).click();
    await shows(page, 50);
  });
});
