import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { callCompleted } from '@call-webhooks/testing';
import { axeFindings } from '@call-webhooks/ui/test/axe';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { hasRows, openConsole, testReceivers } from './open-console.ts';
import type { RunningReceiver } from './start-receiver.ts';

const WIDTHS = [1440, 390];
const PHONE = '+491715550123';
const VIEW = '?view=dead-letters';

/** Whether a person sees the whole element without scrolling. The page scrolls in the frame after it is made. */
const isInView = (place: Locator): Promise<boolean> =>
  place.evaluate(async (element: unknown) => {
    const window = globalThis as unknown as WindowLike;
    const frame = () => new Promise<void>((done) => window.requestAnimationFrame(() => done()));
    await frame();
    await frame();
    const { getBoundingClientRect } = element as { getBoundingClientRect(): DOMRectLike };
    const { top, bottom } = getBoundingClientRect.call(element);
    return top >= 0 && bottom <= window.innerHeight;
  });

interface WindowLike {
  readonly innerHeight: number;
  requestAnimationFrame(callback: () => void): void;
}

interface DOMRectLike {
  readonly top: number;
  readonly bottom: number;
}

async function seen(place: Locator): Promise<void> {
  await place.waitFor();
  await expect(isInView(place)).resolves.toBe(true);
}

const overflows = (page: Page) =>
  page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );

/** Letters of several causes, so that the list begins far below. */
async function bury(receiver: RunningReceiver, count: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    receiver.tell({ broken: `The CRM responded ${String(500 + (made % 9))}` });
    const callId = `call-${String(made)}`;
    await receiver.deliver({ ...callCompleted({ callId }), toPhoneNumber: PHONE });
  }
  receiver.tell({ broken: false });
}

/** A dry run that missed twelve of many events. */
function dryRun(now: number) {
  const counts = { seen: 80, missed: 12, known: 68, inDeadLetters: 0, handled: 0, failed: 0 };
  return {
    ...{ id: 'run', by: 'Ada', state: 'done', dryRun: true, savedAt: now, reasons: [] },
    tenant: 'acme',
    ...{ startedAt: now - 9_000, endedAt: now, since: now - 9_000_000, until: now - 600_000 },
    counts: { ...counts, ignored: 0, skipped: 0, stoppedEarly: false },
    events: Array.from({ length: 62 }, (_, at) => ({
      ...{ callId: `call-${String(at)}`, eventName: 'call:completed', at: now },
      ...(at < 12 ? { missed: true } : { missed: false, state: 'handled' }),
    })),
  };
}

describeInChromium('what a click has made is in view', (chromium) => {
  const start = testReceivers();
  const open = (receiver: RunningReceiver, query: string, width: number) =>
    openConsole(chromium, receiver, query, { viewport: { width, height: 800 } });

  test.each(WIDTHS)('the example of a cause, and its stack trace (%d px)', async (width) => {
    const receiver = await start();
    await bury(receiver, 12);
    const page = await open(receiver, VIEW, width);
    const examples = page.getByRole('link', { name: 'Open an example' });
    await examples.first().click();
    const detail = page.getByRole('region', { name: 'Dead letter' });
    await seen(detail.getByRole('heading', { name: 'call:completed' }));
    await detail.getByText('Stack trace').first().click();
    await detail
      .getByRole('region', { name: 'Stack trace' })
      .getByText(/^at .*\.ts:\d+/)
      .waitFor();
    expect([await axeFindings(page), await overflows(page)]).toEqual([[], false]);
    await page.keyboard.press('Escape');
    await page.locator('a[id^=example-]:focus').waitFor();
  });

  test.each(WIDTHS)('the progress of a redrive, with its pace (%d px)', async (width) => {
    const receiver = await start();
    await bury(receiver, 30);
    const page = await open(receiver, VIEW, width);
    await page.evaluate('scrollTo(0, 700)');
    receiver.tell({ held: true });
    await page.getByRole('button', { name: 'Redrive all …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    const heading = page.getByRole('heading', { name: 'Redrive in progress' });
    await page.locator('h3:focus', { hasText: 'Redrive in progress' }).waitFor();
    await seen(heading);
    await seen(page.getByRole('progressbar'));
    expect(await axeFindings(page)).toEqual([]);
    receiver.tell({ held: false });
    await page.getByText('30 handled', { exact: true }).waitFor();
    await seen(page.getByText('Redrive ended: 30 handled.'));
    await page.getByText('No dead letters').waitFor();
  });

  test.each(WIDTHS)('what can be done with selected letters (%d px)', async (width) => {
    const receiver = await start();
    await bury(receiver, 30);
    const page = await open(receiver, VIEW, width);
    await page.getByLabel('Select call:completed of call-29').check();
    await page.getByLabel('Select call:completed of call-7', { exact: true }).check();
    const bar = page.getByRole('region', { name: 'Selected dead letters' });
    await bar.getByText('2 selected').waitFor();
    await seen(bar);
    expect([await axeFindings(page), await overflows(page)]).toEqual([[], false]);
    await bar.getByRole('button', { name: 'Remove selected …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove 2 dead letters?' });
    await dialog.getByText('This cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('2 removed', { exact: true }).waitFor();
    await seen(page.getByRole('heading', { name: 'Last removal' }));
    await hasRows(page, 'Dead letters', 28);
    expect(await bar.count()).toBe(0);
    expect(receiver.logged).toEqual([{ action: 'remove', by: 'Ada <Ops>', letters: 2 }]);
    await page.getByRole('button', { name: 'Select these 28' }).click();
    await bar.getByRole('button', { name: 'Redrive selected …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await page.getByText('28 handled', { exact: true }).waitFor();
  });

  test.each(WIDTHS)('the letters of a person, who is in no address (%d px)', async (width) => {
    const receiver = await start();
    await bury(receiver, 3);
    const page = await open(receiver, VIEW, width);
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    const field = page.getByLabel('Phone number, email address or name');
    await field.fill('0171 555 0123');
    await field.press('Enter');
    await seen(page.getByRole('heading', { name: 'Dead letters of this person' }));
    await hasRows(page, 'Dead letters of this person', 3);
    await page.getByText('3 dead letters found, 3 searched').waitFor();
    expect([await axeFindings(page), await overflows(page)]).toEqual([[], false]);
    await page.locator('a[id^=found-]').first().click();
    await seen(page.getByRole('region', { name: 'Dead letter' }).getByRole('heading').first());
    expect([...addresses, page.url()].join()).not.toMatch(/0?171|5550123|about/);
    expect(receiver.logged).toEqual([{ action: 'search', by: 'Ada <Ops>' }]);
    await page.keyboard.press('Escape');
    await field.fill('5550123');
    await field.press('Enter');
    await page.getByText('Enter its last nine digits or more.').waitFor();
    await field.fill('1');
    await field.press('Enter');
    await page.getByText('expected a phone number of at least five digits').waitFor();
  });

  test.each(WIDTHS)('the letters of a cause (%d px)', async (width) => {
    const receiver = await start();
    await bury(receiver, 12);
    const page = await open(receiver, VIEW, width);
    await page.getByRole('button', { name: 'Show these' }).first().click();
    await seen(page.getByRole('heading', { name: '2 dead letters matching' }));
  });

  test.each(WIDTHS)('the button that runs missed events (%d px)', async (width) => {
    const receiver = await start({
      service: { baseUrl: 'http://127.0.0.1:9', apiToken: 'a-token' },
    });
    await receiver.store.saveCursor?.('console/reconcile', JSON.stringify(dryRun(Date.now())));
    const page = await open(receiver, '?view=reconcile', width);
    const button = page.getByRole('button', { name: 'Run 12 events …' });
    await seen(button);
    await page.locator('[aria-label="Reconciled events"] tbody tr').nth(61).waitFor();
    const call = page.locator('[aria-label="Reconciled events"] a').first();
    expect(await call.getAttribute('href')).toContain('tenant=acme');
    await button.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('h3:focus', { hasText: /reconcile/i }).waitFor();
    await seen(
      page.getByRole('heading', { name: /^(Last reconcile run|Reconcile run in progress)$/ }),
    );
  });

  test.each(WIDTHS)('the call of a row far below (%d px)', async (width) => {
    const receiver = await start();
    await bury(receiver, 30);
    const page = await open(receiver, '?view=deliveries', width);
    const row = page.locator('[aria-label=Deliveries] tbody tr').nth(25);
    await row.locator('a.link:has(code)').click();
    await seen(page.getByRole('heading', { name: 'Call', exact: true }));
    await page.locator('.call > li').first().waitFor();
  });
});
