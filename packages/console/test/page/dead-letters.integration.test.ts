import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { callCompleted, callStarted } from '@call-webhooks/testing';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { hasRows, openConsole, readAnew, testReceivers } from './open-console.ts';
import type { RunningReceiver } from './start-receiver.ts';

const VIEW = '?view=dead-letters';
const shows = (page: Page, count: number) => hasRows(page, 'Dead letters', count);

/** Events whose handlers fail for good. */
async function bury(receiver: RunningReceiver, count: number): Promise<void> {
  receiver.tell({ broken: true });
  for (let made = 1; made <= count; made++) {
    const callId = `call-${String(made)}`;
    const event = made % 2 === 0 ? callStarted({ callId }) : callCompleted({ callId });
    await receiver.deliver({ ...event, toName: 'Ida Holm', toPhoneNumber: '+15550123456' });
  }
}

describeInChromium('the console: dead letters', (chromium) => {
  const start = testReceivers();

  test('a letter is shown without personal data, until somebody asks, which is logged', async () => {
    const receiver = await start();
    const page = await openConsole(chromium, receiver, VIEW, { withClock: true });
    await page.getByText('No dead letters').waitFor();
    await bury(receiver, 1);
    await readAnew(page, receiver);
    await page.getByRole('link', { name: 'call:completed' }).click();
    const detail = page.getByRole('region', { name: 'Dead letter' });
    await detail.getByText('The handler failed.').waitFor();
    await detail.getByText('Fix the cause, then redrive the dead letter.').waitFor();
    await detail.getByRole('region', { name: 'Body' }).getByText('•••').first().waitFor();
    expect(await page.content()).not.toMatch(/Ida Holm|15550123456/);
    expect(receiver.logged).toEqual([]);
    await detail.getByRole('button', { name: 'Show personal data' }).click();
    await detail.getByText('Ida Holm').waitFor();
    expect(receiver.logged).toMatchObject([{ action: 'reveal', by: 'Ada <Ops>' }]);
    await detail.getByRole('button', { name: 'Hide personal data' }).click();
    await detail.getByText('•••').first().waitFor();
    expect(await page.content()).not.toMatch(/Ida Holm|15550123456/);
  });

  test('causes: counted, shown apart, and redriven apart', async () => {
    const receiver = await start();
    await bury(receiver, 4);
    receiver.tell({ broken: 'connect ETIMEDOUT 10.0.0.7:443' });
    await receiver.deliver(callStarted({ callId: 'call-9' }));
    await receiver.deliver(callStarted({ callId: 'evil' }));
    const page = await openConsole(chromium, receiver, VIEW);
    const cause = (text: string) =>
      page.getByRole('table', { name: 'Causes' }).locator('tbody tr', { hasText: text });
    await cause('ETIMEDOUT 10.0.0.7:443').getByText('2', { exact: true }).waitFor();
    expect(await page.getByRole('table', { name: 'Causes' }).locator('tbody tr').count()).toBe(3);
    await cause('ETIMEDOUT').getByRole('button', { name: 'Show these' }).click();
    await shows(page, 2);
    await page.reload();
    await shows(page, 2);
    await cause('ETIMEDOUT').getByRole('button', { name: 'Show all' }).click();
    await shows(page, 6);
    receiver.tell({ broken: false });
    await cause('ETIMEDOUT').getByRole('button', { name: 'Redrive these 2 …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Redrive 2 dead letters?' });
    await dialog.getByText('ETIMEDOUT').waitFor();
    await dialog.getByRole('button', { name: 'Redrive' }).click();
    await page.getByText('2 handled', { exact: true }).waitFor();
    await page.getByText('Cause: “Error: connect ETIMEDOUT 10.0.0.7:443”').waitFor();
    await shows(page, 4);
    expect(await cause('ETIMEDOUT').count()).toBe(0);
    await page.getByLabel('Search', { exact: true }).fill('CALL-2');
    await shows(page, 1);
    await page.getByLabel('Event').selectOption('call:completed');
    await page.getByText('No dead letter matches').waitFor();
  });

  test('what hides itself or turns the direction of text is shown as an escape, also in a body', async () => {
    const receiver = await start();
    receiver.tell({ broken: 'the file \u202egpj.exe is odd' });
    await receiver.deliver(callStarted({ fromPhoneNumber: { label: 'a\u202egpj.exe \u200b' } }));
    const page = await openConsole(chromium, receiver, VIEW);
    await page.getByText('gpj.exe is odd').first().waitFor();
    expect(await page.content()).not.toContain('\u202e');
    await page.getByRole('link', { name: 'call:started' }).click();
    await page.getByRole('button', { name: 'Show personal data' }).click();
    await page.getByText(String.raw`a\u202egpj.exe \u200b`).waitFor();
    expect(await page.content()).not.toMatch(/[\u202e\u200b]/);
  });

  test('one is redriven: it fails again, keeps its history, and is gone after the fix', async () => {
    const receiver = await start({ maxAttempts: 2 });
    await bury(receiver, 1);
    await bury(receiver, 1);
    const page = await openConsole(chromium, receiver, VIEW);
    await page.getByText('The handler failed, after 2 attempts').waitFor();
    await page.getByRole('link', { name: 'call:completed' }).click();
    const detail = page.getByRole('region', { name: 'Dead letter' });
    const redrive = detail.getByRole('button', { name: 'Redrive' });
    await redrive.click();
    await page.getByText('1 failed again', { exact: true }).waitFor();
    await detail.locator('.history > li').nth(2).waitFor(); // with the first attempt, of the log
    await detail.getByText('from a redrive').waitFor();
    await detail.locator('.facts > div', { hasText: 'Attempts' }).getByText('3').waitFor();
    const deliveries = await openConsole(chromium, receiver, '?view=deliveries&source=redrive');
    await deliveries.locator('td a[id^=delivery-]').click();
    await deliveries.getByText('The redrive is done with it.').waitFor();
    receiver.tell({ broken: false });
    await redrive.click();
    await page.getByText('1 handled', { exact: true }).waitFor();
    await detail.getByText('This dead letter no longer exists').waitFor();
    await page.getByText('No dead letters').waitFor();
    await page.getByText('by Ada <Ops>').waitFor();
  });

  test('all and those that match are redriven, with progress, and stopped', async () => {
    const receiver = await start();
    await bury(receiver, 6);
    const page = await openConsole(chromium, receiver, VIEW);
    await shows(page, 6);
    receiver.tell({ broken: false, held: true });
    await page.getByRole('button', { name: 'Redrive all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Redrive 6 dead letters?' });
    await dialog.getByRole('button', { name: 'Redrive' }).click();
    await page.getByRole('heading', { name: 'Redrive in progress' }).waitFor();
    await page.getByRole('progressbar').waitFor();
    await page.getByTitle('A redrive is running this dead letter.').waitFor(); // the first letter
    const stopped = page.waitForResponse((response) => response.url().endsWith('/redrive/stop'));
    await page.getByRole('button', { name: 'Stop' }).click();
    await stopped;
    receiver.tell({ held: false });
    await page.getByText('Stopped', { exact: true }).waitFor();
    await page.getByText('1 handled', { exact: true }).waitFor();
    await shows(page, 5);
    await page.getByLabel('Event').selectOption('call:started');
    await shows(page, 3);
    await page.getByRole('button', { name: 'Redrive all that match' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await page.getByText('3 of 3').waitFor();
    await page.getByText('No dead letter matches').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await shows(page, 2);
  });

  test('removing asks first; filters and pages are in the address', async () => {
    const receiver = await start();
    await bury(receiver, 53);
    const page = await openConsole(chromium, receiver, VIEW);
    await shows(page, 50);
    await page.getByText('53 dead letters waiting').waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await shows(page, 3);
    await page.reload();
    await shows(page, 3);
    await page.goBack();
    await shows(page, 50);
    await page.getByLabel('Reason').selectOption('Invalid payload');
    await page.getByText('No dead letter matches').waitFor();
    await page.goBack();
    await shows(page, 50);
    await page.getByLabel('Search', { exact: true }).fill('nobody');
    await page.getByText('No dead letter matches').waitFor();
    await page.reload();
    await page.getByText('No dead letter matches').waitFor();
    expect(await page.getByLabel('Search', { exact: true }).inputValue()).toBe('nobody');
    await page.getByRole('button', { name: 'Clear' }).click();

    await page.getByRole('link', { name: 'call:completed' }).first().click();
    await page.getByRole('button', { name: 'Remove …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove this dead letter?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('53 dead letters waiting').waitFor();
    await page.getByRole('button', { name: 'Remove …' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('52 dead letters waiting').waitFor();
    expect(receiver.logged).toMatchObject([{ action: 'remove', by: 'Ada <Ops>' }]);
  });

  test('after a letter was removed, the next row has the focus, and the badge is right', async () => {
    const receiver = await start();
    await bury(receiver, 2);
    const page = await openConsole(chromium, receiver, VIEW, { withoutPolls: true });
    await shows(page, 2);
    await page.getByText('2 dead letters waiting, newest first').waitFor();
    const badge = page.locator('.tab-count');
    await badge.getByText('2').waitFor();
    const remove = async () => {
      await page.getByRole('button', { name: 'Remove …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    };
    await page.locator('table[aria-label="Dead letters"] .error-line').first().click();
    await remove();
    await page.locator('a[id^=letter-]:focus', { hasText: 'call:completed' }).waitFor();
    await badge.getByText('1').waitFor();
    await page.keyboard.press('Enter');
    await remove();
    await page.locator('h2:focus', { hasText: 'Dead letters' }).waitFor();
    await badge.waitFor({ state: 'detached' });
    await page.getByText('No dead letters').waitFor();
    expect(await page.getByText('newest first').count()).toBe(0);
  });

  test('one letter is asked for as one', async () => {
    const receiver = await start();
    await bury(receiver, 1);
    const page = await openConsole(chromium, receiver, VIEW, { withoutPolls: true });
    await page.getByRole('button', { name: 'Redrive all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Redrive 1 dead letter?' });
    await dialog.getByText('It will run again').waitFor();
    receiver.tell({ broken: false });
    await dialog.getByRole('button', { name: 'Redrive' }).click();
    await page.getByText('No dead letters').waitFor();
    await page.locator('.tab-count').waitFor({ state: 'detached' });
  });

  test('a redrive whose process died is told as such, and another one may start', async () => {
    const receiver = await start();
    await bury(receiver, 2);
    const counts = { handled: 1, queued: 0, failed: 0, alreadyHandled: 0, unknown: 0, skipped: 0 };
    const left = { id: 'x', by: 'Bob', state: 'running', startedAt: Date.now(), endedAt: null };
    const task = { ...left, savedAt: Date.now(), total: 2, counts, retries: 0 };
    await receiver.store.saveCursor?.('console/redrive', JSON.stringify(task));
    const page = await openConsole(chromium, receiver, VIEW);
    await page.getByText('Ended unexpectedly').waitFor();
    await page
      .getByText('Dead letters that have not run are still here. Redrive them again.')
      .waitFor();
    await page.getByText('by Bob').waitFor();
    expect(await page.getByRole('heading', { name: 'Redrive in progress' }).count()).toBe(0);
    receiver.tell({ broken: false });
    await page.getByRole('button', { name: 'Redrive all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await page.getByText('2 handled', { exact: true }).waitFor();
  });

  test('without a store of dead letters, the page says how to have one', async () => {
    const receiver = await start({ withoutDeadLetters: true });
    const page = await openConsole(chromium, receiver, VIEW);
    await page.getByText('No dead-letter store').waitFor();
  });
});
