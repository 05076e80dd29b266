import { expect, test } from '@jest/globals';
import { callCompleted, callStarted } from '@call-webhooks/testing';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openConsole, testReceivers } from './open-console.ts';

const WRONG_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describeInChromium('the console: now', (chromium) => {
  const start = testReceivers();

  test('numbers, outcomes with meaning and fix, health, secrets and charts of this process', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver);
    await page.getByRole('heading', { name: 'No delivery has come yet' }).waitFor();
    await page.getByText('This process only').waitFor();
    await page.getByText('Times in Europe/Oslo').waitFor();

    for (const callId of ['one', 'two', 'three']) await receiver.deliver(callStarted({ callId }));
    expect(await receiver.deliver(callStarted({ callId: 'one' }))).toBe(200);
    expect(await receiver.deliver(callStarted(), { secret: WRONG_SECRET })).toBe(401);

    const tile = (name: string) => page.locator('.tile', { hasText: name });
    await tile('Deliveries a minute').getByText('5 in the last hour').waitFor();
    await tile('Acknowledged').getByText('100%').waitFor();
    await tile('Acknowledged').getByText('0 failed · 1 refused').waitFor();
    await tile('Handler time, p50')
      .getByText(/p95 .+ p99 /)
      .waitFor();
    await tile('Lag, p50')
      .getByText(/p95 .+ p99 /)
      .waitFor();

    const outcomes = page.getByRole('table', { name: 'Outcomes' });
    const row = (name: string) => outcomes.getByRole('row').filter({ hasText: name });
    await row('handled').filter({ hasText: '3' }).first().waitFor();
    await row('signature-mismatch')
      .getByText('Check that the secret of this webhook action is configured')
      .waitFor();
    await page.getByRole('table', { name: 'Secrets' }).getByText('call:started').waitFor();
    expect(await page.content()).not.toContain('whsec_');
    await page.getByRole('heading', { name: 'Ready for deliveries' }).waitFor();
    await page.locator('.health li', { hasText: 'Store' }).getByText('Up').waitFor();
    // The charts, as they are read out.
    const chart = page.getByRole('table', { name: 'Deliveries a minute' });
    await chart.getByRole('cell', { name: '4', exact: true }).first().waitFor();

    await page.getByLabel('Period').selectOption('Last day');
    await page.getByRole('heading', { name: 'Outcomes of the last day' }).waitFor();
    await page.getByRole('table', { name: 'Deliveries in ten minutes' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Outcomes of the last day' }).waitFor();
    await row('signature-mismatch').getByRole('link').click();
    await page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?view=deliveries&outcome=signature-mismatch');
  });

  test('an event with fields of other names is shown with the fix, until one has them', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver);
    await receiver.deliver({ eventName: 'call:completed', callId: 'c1', finishedAt: '2026-01-02' });
    const note = page.locator('.outcome-note', { hasText: 'fieldNames' });
    await note.getByText('eventName, callId, finishedAt').waitFor();
    const link = note.getByRole('link', { name: 'More about field names' });
    expect(await link.getAttribute('href')).toContain('field-names');
    await receiver.deliver(callCompleted());
    await note.waitFor({ state: 'detached' });
  });

  test('a handler that runs is in flight, until it ends', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver);
    receiver.tell({ held: true });
    const delivered = receiver.deliver(callStarted());
    const inFlight = page.locator('.tile', { hasText: 'In flight' });
    await inFlight.getByText('1 handler runs').waitFor();
    receiver.tell({ held: false });
    expect(await delivered).toBe(200);
    await inFlight.getByText('0 handlers run').waitFor();
  });

  test('processes that share a store are summed, and shown one by one', async () => {
    // A console counts all receivers of its process. Here both are in one, so each counts both deliveries.
    const receiver = await start({ shared: true });
    const other = await start({ shared: true, file: receiver.file });
    await receiver.deliver(callStarted());
    await other.deliver(callStarted());
    const page = await openConsole(chromium, receiver);
    await page.getByText('The sum of 2 processes.').waitFor();
    const all = page.locator('.tile', { hasText: 'Deliveries a minute' });
    await all.getByText('4 in the last hour').waitFor();
    await page.getByRole('combobox', { name: 'Processes' }).selectOption({ index: 1 });
    await page.getByText('Only ').first().waitFor();
    await all.getByText('2 in the last hour').waitFor();
    await page.reload();
    await all.getByText('2 in the last hour').waitFor();
  });
});
