// Renews the pictures of docs/inspector.md: npm run screenshots
// The same seed and a clock that is turned by hand give the same pictures, but for the durations and
// the port. They look best where the fonts Inter and JetBrains Mono are installed.
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startSimulator } from '@call-webhooks/simulator';
import { chromiumPath, launchChromium } from '@call-webhooks/testing/chromium';

const [folder = 'docs/images', only] = process.argv.slice(2);
const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 400, height: 800 };

/** A receiver that fails as receivers do: now and then, and once for good. */
async function receiver() {
  let count = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      count++;
      const { callId = '' } = JSON.parse(body) as { callId?: string };
      const gone = request.url === '/old-hook';
      const fails = count % 7 === 4;
      response.writeHead(gone ? 404 : fails ? 500 : 200, { 'content-type': 'application/json' });
      const outcome = gone ? 'no such route' : fails ? 'handler-failed' : 'handled';
      response.end(JSON.stringify({ outcome, callId }));
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

async function open(browser: Browser, url: string, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('body[data-ready]').waitFor();
  return page;
}

async function shoot(page: Page, name: string): Promise<void> {
  if (only !== undefined && !name.includes(only)) return;
  await page.screenshot({ path: `${folder}/${name}.png` });
  console.log(`${folder}/${name}.png`);
}

const path = chromiumPath();
if (path === undefined) throw new Error('chromium is not installed.');
mkdirSync(folder, { recursive: true });
const { server, url } = await receiver();
const simulator = await startSimulator({
  clock: 'manual',
  seed: 'pictures',
  startAt: Date.UTC(2026, 0, 31, 9, 30),
  patience: 50,
});
const browser = await launchChromium(path);
try {
  const empty = await open(browser, simulator.url, { viewport: WIDE, colorScheme: 'light' });
  await shoot(empty, 'inspector-empty');

  simulator.rules.forwardTo(`${url}/hook`);
  for (let placed = 0; placed < 6; placed++) {
    simulator.calls.place({ durationSeconds: 30 + 35 * placed });
    await simulator.clock.advance('90s');
  }
  simulator.chaos.set({ duplicate: 0.6, dropAnswer: 0.3 });
  simulator.calls.place({ durationSeconds: 20 });
  await simulator.clock.advance('40s');
  simulator.calls.start({ calledName: 'Noor Haddad', calledNumber: '+15550123' });
  await simulator.deliveries.landed();

  const waiting = simulator.deliveries
    .list({ state: 'waiting' })
    .filter(({ attempts }) => attempts.length > 0)
    .at(-1);
  const chosen = `.delivery[data-id="${waiting?._id ?? ''}"]`;
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await open(browser, simulator.url, { viewport: WIDE, colorScheme });
    await shoot(page, `inspector-${colorScheme}-overview`);
    await page.locator(chosen).click();
    await page.locator('.attempt details[open]').waitFor();
    await shoot(page, `inspector-${colorScheme}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('5');
    await shoot(page, `inspector-${colorScheme}-chaos`);
    await page.keyboard.press('c');
    await shoot(page, `inspector-${colorScheme}-call`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await shoot(page, `inspector-${colorScheme}-help`);
    await page.context().close();
  }

  const old = simulator.rules.create({
    trigger: 'call:started',
    name: 'Old CRM',
    scope: 'workspace',
    actions: [{ url: `${url}/old-hook` }],
  });
  simulator.calls.place();
  await simulator.clock.advance('5m');
  const page = await open(browser, simulator.url, { viewport: WIDE, colorScheme: 'dark' });
  await page.locator(`.delivery[data-state="failed"]`).first().click();
  await page.locator('.attempt details[open]').waitFor();
  await page.locator('.rule[data-state=paused]').scrollIntoViewIfNeeded();
  await shoot(page, 'inspector-paused');
  await page.keyboard.press('4');
  await shoot(page, 'inspector-outbox');
  const calls = await open(browser, simulator.url, {
    viewport: { width: 1000, height: 760 },
    colorScheme: 'light',
  });
  await calls.keyboard.press('3');
  await shoot(calls, 'inspector-calls-medium');
  await calls.locator('.delivery').nth(2).click();
  await calls.locator('.attempt details[open]').waitFor();
  await shoot(calls, 'inspector-detail-medium');

  simulator.rules.resume(old._id);
  for (const colorScheme of ['light', 'dark'] as const) {
    const narrow = await open(browser, simulator.url, {
      viewport: NARROW,
      colorScheme,
      deviceScaleFactor: 2,
    });
    await shoot(narrow, `inspector-narrow-${colorScheme}`);
    await narrow.locator('.delivery').nth(1).click();
    await narrow.locator('.attempt details[open]').waitFor();
    await shoot(narrow, `inspector-narrow-${colorScheme}-detail`);
    await narrow.keyboard.press('Escape');
    await narrow.keyboard.press('2');
    await shoot(narrow, `inspector-narrow-${colorScheme}-rules`);
  }
} finally {
  await browser.close();
  await simulator.close();
  server.close();
}
