import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startSimulator, type Simulator } from '@call-webhooks/simulator';
import { callCompleted, callStarted } from '@call-webhooks/testing';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { hasRows, openConsole, testReceivers } from './open-console.ts';

const WRONG_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const HOUR = 3_600_000;

const rows = (page: Page) => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
const shows = (page: Page, count: number) => hasRows(page, 'Deliveries', count);

describeInChromium('the console: now', (chromium) => {
  const start = testReceivers();

  test('numbers of all processes, outcomes with their fix, health, secrets and a chart', async () => {
    const receiver = await start();
    const other = await start({ file: receiver.file });
    const page = await openConsole(chromium, receiver);
    await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor();
    await page.getByText('Times in Europe/Oslo').waitFor();

    for (const callId of ['one', 'two']) await receiver.deliver(callStarted({ callId }));
    expect(await other.deliver(callStarted({ callId: 'three' }))).toBe(200);
    expect(await other.deliver(callStarted({ callId: 'one' }))).toBe(200);
    expect(await receiver.deliver(callStarted(), { secret: WRONG_SECRET })).toBe(401);

    const tile = (name: string) => page.locator('.tile', { hasText: name });
    await tile('Webhook deliveries').getByText('5', { exact: true }).waitFor();
    await tile('Handled').getByText('60%').waitFor();
    await tile('Duplicates').getByText('20%').waitFor();
    await tile('Rejected').getByText('20%').waitFor();
    await page.getByText('In the last hour, 2 processes wrote to the store.').waitFor();
    expect(await page.getByRole('table', { name: 'Processes' }).getByText('Active').count()).toBe(
      2,
    );

    const row = (table: string, name: string) =>
      page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name });
    await row('Outcomes', 'handled').first().getByText('3', { exact: true }).waitFor();
    await row('Outcomes', 'signature-mismatch')
      .getByText('Check that the secret of this webhook action is configured')
      .waitFor();
    await row('Secrets', 'current').getByText('In use').waitFor();
    await row('Sources', 'Webhook deliveries').getByText('60%').waitFor();
    expect(await page.content()).not.toContain('whsec_');
    await page.getByRole('heading', { name: 'Receiver ready' }).waitFor();
    await page.locator('.health li', { hasText: 'Store' }).getByText('Up').waitFor();
    // The chart, as it is read out.
    const chart = page.getByRole('table', { name: 'Webhook deliveries per minute' });
    await chart
      .getByRole('cell', { name: /^[1-3]$/ })
      .first()
      .waitFor();

    await page.getByLabel('Period').selectOption('Last 26 hours');
    await page.getByRole('table', { name: 'Webhook deliveries per ten minutes' }).waitFor();
    await page.reload();
    await row('Outcomes', 'signature-mismatch').getByRole('link').click();
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

  test('without a log, it says so and how to get one', async () => {
    const receiver = await start({ withoutLog: true });
    const page = await openConsole(chromium, receiver);
    await page.getByText('This receiver’s store keeps no outcome log').waitFor();
    await page.getByRole('heading', { name: 'Receiver ready' }).waitFor();
    await receiver.deliver(callStarted({ callId: 'call-a' }));
    await page.goto(`${receiver.url}?view=deliveries&call=call-a`);
    await page.getByText('The event has been handled.').waitFor();
    await page.getByText('keeps no outcome log').waitFor();
  });
});

describeInChromium('the console: deliveries', (chromium) => {
  const start = testReceivers();

  test('the outcome in words, search and filters in the address, reload and Back', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver, '?view=deliveries');
    await page.getByText('No deliveries yet').waitFor();
    await receiver.deliver(callStarted({ callId: 'call-a' }));
    await receiver.deliver(callStarted({ callId: 'call-a' }));
    await receiver.deliver(callCompleted({ callId: 'call-b' }));
    receiver.tell({ broken: true });
    await receiver.deliver(callCompleted({ callId: 'call-c' }));
    await shows(page, 4);

    await page.getByRole('link', { name: 'duplicate' }).click();
    const detail = page.getByRole('region', { name: 'Delivery' });
    await detail.getByText('This event was already handled.').waitFor();
    await detail.getByText('The service is done with it.').waitFor();
    await detail.getByText('call-a:call:started').waitFor();
    await page.reload();
    await detail.getByRole('heading', { name: 'duplicate' }).waitFor();
    // The link holds in every process.
    const other = await start({ file: receiver.file });
    const there = await openConsole(chromium, other, new URL(page.url()).search);
    await there.getByText('call-a:call:started').waitFor();
    await page.goBack();
    await detail.waitFor({ state: 'detached' });

    await page.getByLabel('Outcome').selectOption('dead-lettered');
    await shows(page, 1);
    await rows(page).getByText('call-c').waitFor();
    await page.reload();
    await shows(page, 1);
    await page.goBack();
    await shows(page, 4);
    await page.getByLabel('Search', { exact: true }).fill('CALL-B');
    await shows(page, 1);
    await rows(page).getByText('call-b').waitFor();
    expect(new URL(page.url()).searchParams.get('text')).toBe('CALL-B');
    await page.getByLabel('Event').selectOption('call:started');
    await page.getByText('No delivery matches').waitFor();
    await page.getByText('4 searched').waitFor();
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
    await shows(page, 2);
    await rows(page).filter({ hasText: 'call-a' }).getByText('call:started').click();
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
    expect(new URL(page.url()).searchParams.has('delivery')).toBe(false);
    const row = rows(page).filter({ hasText: 'call-b' });
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      row.getByRole('link', { name: 'handled' }).click({ button: 'middle' }),
    ]);
    await opened.getByRole('region', { name: 'Delivery' }).getByText('call-b:').waitFor();
    await row.getByRole('link', { name: 'call-b' }).click();
    await page.getByRole('region', { name: 'Call' }).waitFor();
    expect(await detail.count()).toBe(0);
  });

  test('a call by its id over its three events, to its dead letter', async () => {
    const receiver = await start();
    await receiver.deliver(callStarted({ callId: 'call-a' }));
    await receiver.deliver(callStarted({ callId: 'other' }));
    receiver.tell({ broken: true });
    await receiver.deliver(callCompleted({ callId: 'call-a' }));
    const page = await openConsole(chromium, receiver, '?view=deliveries');
    await page.getByLabel('Call id').fill('call-a');
    await page.keyboard.press('Enter');
    const call = page.getByRole('region', { name: 'Call' });
    const event = (name: string) => call.locator('.call > li', { hasText: name });
    await event('call:started').getByText('Handled', { exact: true }).waitFor();
    await event('call:completed')
      .getByText('Its last attempt failed, and its dead letter is waiting')
      .waitFor();
    await event('call:completed').getByText('The CRM refused').waitFor();
    await event('call:recording-available').getByText('Not seen').waitFor();
    await shows(page, 2);
    await page.goto(`${receiver.url}?view=deliveries&call=call-z`);
    await event('call:completed').getByRole('link', { name: 'a dry run' }).click();
    await page.getByRole('heading', { name: 'Reconcile', exact: true }).waitFor();
    await page.goBack();
    await page.goto(`${receiver.url}?view=deliveries&call=call-a`);
    await page.reload();
    await event('call:completed').getByRole('link', { name: 'Open the dead letter' }).click();
    await page
      .getByRole('region', { name: 'Dead letter' })
      .getByText('The CRM refused')
      .first()
      .waitFor();
    await page.goBack();
    await call.getByText('Not seen').waitFor();
    await page.getByRole('button', { name: 'Close the call' }).click();
    await call.waitFor({ state: 'detached' });
  });

  test('older deliveries, page by page', async () => {
    const receiver = await start();
    for (let batch = 0; batch < 5; batch++)
      await receiver.store.log?.append({
        id: `batch-${String(batch)}`,
        process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
        rows: Array.from({ length: 30 }, (_, at) => ({
          ...{ at: Date.now(), process: 'p', outcome: 'handled', source: 'webhook' },
          ...{ durationMs: 1, webhookId: `w-${String(batch)}-${String(at)}` },
        })),
        ...{ failures: [], counts: {}, marks: {} },
      });
    const page = await openConsole(chromium, receiver, '?view=deliveries');
    await shows(page, 60);
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByRole('button', { name: 'Latest' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Older' }).click();
    await shows(page, 30);
    await page.getByRole('button', { name: 'Latest' }).click();
    await shows(page, 60);
  });
});

describeInChromium('the console: reconcile', (chromium) => {
  const start = testReceivers();
  const serviceOf = ({ url, apiToken }: Simulator) => ({ baseUrl: url, apiToken });
  const simulate = () =>
    startSimulator({ clock: 'manual', seed: 1, startAt: Date.now() - 2 * HOUR });

  test('a dry run says what was missed and why, and a button runs it', async () => {
    const simulator = await simulate();
    try {
      for (let placed = 0; placed < 3; placed++)
        simulator.calls.place({ durationSeconds: 20, recorded: false });
      await simulator.clock.advance('5m');
      const receiver = await start({ service: serviceOf(simulator) });
      const page = await openConsole(chromium, receiver, '?view=reconcile');
      await page.getByText('No run yet').waitFor();
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('3 missed', { exact: true }).waitFor();
      await page.getByText('The outcome log does not go back that far').waitFor();
      const table = page.getByRole('table', { name: 'Reconciled events' });
      expect(await table.getByText('Missed').count()).toBe(3);
      expect(await table.getByText('unknown', { exact: true }).count()).toBe(3);
      expect(receiver.logged).toMatchObject([{ action: 'reconcile', dryRun: true }]);

      // Another process shows it, and runs it.
      const other = await start({ file: receiver.file, service: serviceOf(simulator) });
      const there = await openConsole(chromium, other, '?view=reconcile');
      await there.getByRole('button', { name: 'Run 3 events …' }).click();
      const dialog = there.getByRole('dialog', { name: 'Run 3 events?' });
      await dialog.getByRole('button', { name: 'Run' }).click();
      await page.getByText('3 run now').waitFor();
      await page.getByText('The outcome log does not go back that far').waitFor();
      await page
        .getByRole('table', { name: 'Reconciled events' })
        .getByRole('link')
        .first()
        .click();
      const call = page.getByRole('region', { name: 'Call' });
      await call.getByText('Handled', { exact: true }).waitFor();

      await page.getByRole('link', { name: 'Reconcile' }).click();
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('Nothing was missed.').waitFor();
      await page.getByText('3 already known', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: /^Run \d/ }).count()).toBe(0);
    } finally {
      await simulator.close();
    }
  });

  test('with a store in memory, the window begins when its process started', async () => {
    const simulator = await simulate();
    try {
      simulator.calls.place({ durationSeconds: 20, recorded: false });
      await simulator.clock.advance('90m');
      simulator.calls.place({ durationSeconds: 20, recorded: false });
      await simulator.clock.advance('5m');
      const service = serviceOf(simulator);
      const old = await start({ service, memoryFor: HOUR, maxAttempts: 2 });
      const page = await openConsole(chromium, old, '?view=reconcile');
      await page.getByRole('button', { name: 'Dry run' }).click();
      await page.getByText('The store remembers no events from before').waitFor();
      await page.getByText('1 call checked.').waitFor();
      old.tell({ broken: true });
      await page.getByRole('button', { name: 'Run 1 event …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
      await page.getByText('1 failed', { exact: true }).waitFor();
      const deliveries = await openConsole(chromium, old, '?view=deliveries');
      await deliveries.getByRole('link', { name: 'handler-failed' }).click();
      const detail = deliveries.getByRole('region', { name: 'Delivery' });
      await detail.getByText('The next reconcile run will find it.').waitFor();
      await detail.getByText('Fix the cause of the error.').waitFor();
      await detail.getByRole('link', { name: 'Show all three events of the call' }).click();
      const call = deliveries.getByRole('region', { name: 'Call' });
      await call.getByText('The next reconcile run will find it').waitFor();

      const young = await openConsole(
        chromium,
        await start({ service, memoryFor: HOUR / 10 }),
        '?view=reconcile',
      );
      await young.getByRole('button', { name: 'Dry run' }).click();
      await young.getByRole('alert').getByText('There is nothing to check').waitFor();
      await young.getByText('No run yet').waitFor();
    } finally {
      await simulator.close();
    }
  });

  test('a service that does not respond is told, and a console without a client says so', async () => {
    const receiver = await start({
      service: { baseUrl: 'http://127.0.0.1:9', apiToken: 'a-token' },
    });
    const page = await openConsole(chromium, receiver, '?view=reconcile');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Failed', { exact: true }).waitFor();
    const error = page.locator('.form-error', { hasText: 'Start it again' });
    expect(await error.textContent()).not.toContain('..');
    expect(await page.getByText('checked.').count()).toBe(0);
    expect(await page.content()).not.toContain('a-token');
    const without = await openConsole(chromium, await start(), '?view=reconcile');
    await without.getByText('Reconciling is not configured').waitFor();
  });
});
