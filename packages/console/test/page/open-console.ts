import { afterEach, expect } from '@jest/globals';
import type { InChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startReceiver, type RunningReceiver } from './start-receiver.ts';

/** Starts receivers, and ends them after each test. */
export function testReceivers(): typeof startReceiver {
  const running: RunningReceiver[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.close()));
  });
  return async (options) => {
    const receiver = await startReceiver(options);
    running.push(receiver);
    return receiver;
  };
}

/** How a test opens the console. */
interface OpenOptions extends BrowserContextOptions {
  /** Whether nothing is read again by itself after 5 seconds or more: what changes, changes at once. */
  withoutPolls?: boolean;
  /** Whether the test moves the clock of the page with `readAnew`. */
  withClock?: boolean;
}

/** Runs in the page, before its own scripts. */
function dropLongTimers(): void {
  const original = globalThis.setTimeout;
  const isShort = (ms = 0) => ms < 5_000;
  const shortOnly = (run: () => void, ms?: number) => (isShort(ms) ? original(run, ms) : 0);
  Object.assign(globalThis, { setTimeout: shortOnly });
}

/**
 * Opens the console, and waits for the view that the query names. Errors of the page, and what its own
 * policy refused, fail the test.
 */
export async function openConsole(
  chromium: InChromium,
  receiver: RunningReceiver,
  query = '',
  { withoutPolls = false, withClock = false, ...options }: OpenOptions = {},
): Promise<Page> {
  const page = await chromium.page({ locale: 'en-GB', timezoneId: 'Europe/Oslo', ...options });
  page.setDefaultTimeout(30_000);
  if (withClock) await page.clock.install();
  if (withoutPolls) await page.addInitScript(dropLongTimers);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (/content security policy|trusted type/i.test(message.text())) problems.push(message.text());
  });
  page.once('close', () => {
    expect(problems).toEqual([]);
  });
  await page.goto(`${receiver.url}${query}`);
  await page.locator('body[data-ready]').waitFor();
  return page;
}

/** As if time passed until everything is read again, by the page and by the server. */
export async function readAnew(page: Page, receiver: RunningReceiver): Promise<void> {
  const LONGEST_MS = 30_000;
  receiver.later(LONGEST_MS);
  await page.clock.fastForward(LONGEST_MS);
}

/** Waits until a table has exactly so many rows. */
export const hasRows = (page: Page, table: string, count: number): Promise<void> =>
  page
    .locator(`table[aria-label="${table}"] tbody > tr:nth-child(${String(count)}):last-child`)
    .waitFor();
