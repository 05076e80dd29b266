import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { chromiumPath, launchChromium } from './chromium.ts';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';

/** One chromium for all tests of a suite. */
export interface InChromium {
  /** A new page, in a context of its own that is closed after the test. */
  page(options?: BrowserContextOptions): Promise<Page>;
}

/** Tests in a real browser, under the rule of `describeWith`. */
export function describeInChromium(title: string, body: (chromium: InChromium) => void): void {
  const program = { name: 'chromium', path: chromiumPath(), installedBy: 'chromium' };
  describeWithProgram(program, title, (path) => {
    let browser: Browser;
    const contexts: BrowserContext[] = [];
    beforeAll(async () => {
      browser = await launchChromium(path);
    });
    afterEach(async () => {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
    });
    afterAll(() => browser.close());
    body({
      async page(options = {}) {
        const context = await browser.newContext(options);
        contexts.push(context);
        return context.newPage();
      },
    });
  });
}
