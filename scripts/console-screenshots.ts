// Updates the images of docs/console.md: npm run screenshots:console
// With a folder as argument, it writes every view there, at all widths, light and dark. They look best
// with the fonts Inter and JetBrains Mono.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { systemClock } from '@call-webhooks/client';
import { createConsole } from '@call-webhooks/console';
import { memoryDeadLetters, memoryStore } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { callCompleted, callStarted, signedRequest, TEST_SECRET } from '@call-webhooks/testing';
import { chromiumPath, launchChromium } from '@call-webhooks/ui/test/chromium';
import { findProgram } from '@call-webhooks/contract-tests/find-program';

const [everythingInto] = process.argv.slice(2);
const folder = everythingInto ?? 'docs/images';
const MINUTES = 58;

// The clock goes through the last hour while the deliveries come.
let now = Date.now() - MINUTES * 60_000;
let isBroken = false;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const handle = async (): Promise<void> => {
  await wait(2 + ((now / 60_000) % 7) * 3);
  if (isBroken) throw new Error('The CRM responded 422: no such contact');
};
const deadLetters = memoryDeadLetters({ now: () => now });
const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const hook = callWebhooks({
  secret: TEST_SECRET,
  store: memoryStore({ now: () => now }),
  version: '2.4.1',
  deadLetter: deadLetters,
  maxAttempts: 2,
  logger,
  now: () => now,
  on: { 'call:started': handle, 'call:completed': handle },
});
const app = express();
app.all('/hook', hook);
app.use(
  '/ops/webhooks',
  createConsole({
    receiver: hook.receiver,
    deadLetters,
    clock: { ...systemClock, now: () => now },
    authorize: () => ({ name: 'Ada' }),
    logger,
  }),
);
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

async function deliver(event: object, secret = TEST_SECRET): Promise<void> {
  const { headers, body } = await signedRequest(event, {
    secret,
    timestamp: Math.floor(now / 1_000),
  });
  await fetch(`${origin}/hook`, { method: 'POST', headers, body });
}

/** An hour of calls: most are handled, some come twice, a few fail for good. */
async function anHour(): Promise<void> {
  for (let minute = 0; minute < MINUTES; minute++, now += 60_000) {
    for (let nth = 0; nth < 2 + ((minute * 7) % 5); nth++) {
      const callId = `call-${String(1_000 + minute * 10 + nth)}`;
      await deliver(callStarted({ callId }));
      isBroken = minute % 13 === 9 && nth === 0;
      const completed = { ...callCompleted({ callId }), toName: 'Noor Haddad' };
      await deliver(completed);
      if (isBroken || minute % 6 === 2) await deliver(completed);
      isBroken = false;
    }
    // Each second, the log keeps 50 rows at most.
    if (minute % 4 === 3) await wait(1_100);
    if (minute % 17 === 5) await deliver(callStarted(), 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  }
  now = Date.now();
  await wait(1_100);
}

async function shoot(page: Page, name: string, forDocs: boolean): Promise<void> {
  if (!forDocs && everythingInto === undefined) return;
  const path = `${folder}/console-${name}.png`;
  await page.mouse.move(0, 0);
  await page.screenshot({ path, animations: 'disabled', fullPage: !forDocs });
  const pngquant = findProgram('pngquant');
  if (pngquant)
    execFileSync(pngquant, ['--force', '--skip-if-larger', '--output', path, '128', path]);
  console.log(`${path}: ${String(Math.round(statSync(path).size / 1024))} kB`);
}

const VIEWS = [
  ['now', '', '.health'],
  ['deliveries', '?view=deliveries', 'td a.link[id]'],
  ['call', '?view=deliveries&call=call-1090', '.call > li'],
  ['dead-letters', '?view=dead-letters', 'td a.link[id]'],
  ['reconcile', '?view=reconcile', '.empty'],
] as const;
const IN_DOCS = new Set(['now-light-1440', 'dead-letters-dark-1440', 'call-light-390']);
const WIDTHS = everythingInto === undefined ? [1440, 390] : [1440, 1024, 900, 390, 320];

const chromium = chromiumPath();
if (chromium === undefined) throw new Error('chromium is not installed.');
mkdirSync(folder, { recursive: true });
await anHour();
const browser = await launchChromium(chromium);
try {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of WIDTHS)
      for (const [view, query, ready] of VIEWS) {
        const name = `${view}-${colorScheme}-${String(width)}`;
        if (everythingInto === undefined && !IN_DOCS.has(name)) continue;
        const options: BrowserContextOptions = {
          locale: 'en-GB',
          timezoneId: 'UTC',
          viewport: { width, height: 860 },
          colorScheme,
        };
        const context = await browser.newContext(options);
        const page = await context.newPage();
        await page.goto(`${origin}/ops/webhooks${query}`);
        await page.locator(ready).first().waitFor();
        if (view === 'dead-letters' || view === 'deliveries') {
          await page.locator(ready).first().click();
          await page.locator('.detail .facts').waitFor();
        }
        await shoot(page, name, IN_DOCS.has(name) && everythingInto === undefined);
        await context.close();
      }
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
  await hook.receiver.close();
}
process.exit(0);
