import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * What axe finds on a page, one line for each rule and element. It runs axe through the debugger, which
 * a Content-Security-Policy does not stop.
 */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(SOURCE, 'utf8'));
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
      id + ': ' + target.join(' ') + ': ' + failureSummary)))`);
}
