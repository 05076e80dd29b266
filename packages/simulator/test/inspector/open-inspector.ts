import { expect } from '@jest/globals';
import type { Simulator } from '@call-webhooks/simulator';
import type { InChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { BrowserContextOptions, Page } from 'playwright-core';

/** The page of a simulator, and what went wrong in it: errors, and what its own policy refused. */
export interface Inspector {
  readonly page: Page;
  /** The number that stands beside a state's name, or beside `all`. */
  count(state: string, expected: number): Promise<void>;
  /** Shows one of the tabs. */
  tab(name: string): Promise<void>;
}

export async function openInspector(
  chromium: InChromium,
  simulator: Simulator,
  options: BrowserContextOptions = {},
): Promise<Inspector> {
  const page = await chromium.page({ locale: 'en-GB', timezoneId: 'UTC', ...options });
  page.setDefaultTimeout(8_000);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (/content security policy|trusted type/i.test(message.text())) problems.push(message.text());
  });
  page.once('close', () => {
    expect(problems).toEqual([]);
  });
  await page.goto(simulator.url);
  await page.locator('body[data-ready]').waitFor();
  return {
    page,
    count: (state, expected) =>
      page
        .locator(`[data-count="${state}"]`, {
          hasText: new RegExp(`^${expected.toLocaleString('en-GB')}$`),
        })
        .waitFor({ state: 'attached' }),
    tab: (name) => page.getByRole('tab', { name }).click(),
  };
}
