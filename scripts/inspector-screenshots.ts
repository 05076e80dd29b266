// Updates the images of docs/simulator.md: npm run screenshots
// With a folder as argument, it writes further images there, one for each part of the page.
// With the same seed and a manual clock, the images stay the same except for durations, ports and
// signatures. They look best with the fonts Inter and JetBrains Mono. Use pngquant to shrink them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startSimulator } from '@call-webhooks/simulator';
import { chromiumPath, launchChromium } from '@call-webhooks/ui/test/chromium';
import { findProgram } from '@call-webhooks/contract-tests/find-program';

const [everythingInto] = process.argv.slice(2);
const folder = everythingInto ?? 'docs/images';
const WIDE = { width: 1440, height: 860 };

/** A receiver that fails from time to time, and always at one URL. */
async function startReceiver() {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const gone = request.url === '/old-hook';
      const fails = ++count % 7 === 4;
      response.writeHead(gone ? 404 : fails ? 500 : 200, { 'content-type': 'application/json' });
      response.end(
        gone
          ? '{"error":"no such route"}'
          : `{"outcome":"${fails ? 'handler-failed' : 'handled'}"}`,
      );
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

async function shoot(page: Page, name: string, forDocs = false): Promise<void> {
  if (!forDocs && everythingInto === undefined) return;
  const path = `${folder}/inspector-${name}.png`;
  await page.mouse.move(0, 0);
  await page.screenshot({ path, animations: 'disabled' });
  const pngquant = findProgram('pngquant');
  if (pngquant)
    execFileSync(pngquant, ['--force', '--skip-if-larger', '--output', path, '128', path]);
  console.log(`${path}: ${String(Math.round(statSync(path).size / 1024))} kB`);
}

const chromium = chromiumPath();
if (chromium === undefined) throw new Error('chromium is not installed.');
mkdirSync(folder, { recursive: true });
const receiver = await startReceiver();
const simulator = await startSimulator({
  clock: 'manual',
  seed: 'pictures',
  startAt: Date.UTC(2026, 0, 31, 9, 30),
});
const browser = await launchChromium(chromium);

async function open(options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'UTC',
    viewport: WIDE,
    ...options,
  });
  const page = await context.newPage();
  await page.goto(simulator.url);
  await page.locator('body[data-ready]').waitFor();
  return page;
}

async function choose(page: Page, id: string): Promise<void> {
  await page.locator(`.event-row[data-id="${id}"]`).click();
  await page.locator('.attempt details[open]').waitFor();
}

async function everyTab(page: Page, name: string): Promise<void> {
  for (const key of ['1', '2', '3', '4', '5']) {
    await page.keyboard.press(key);
    await shoot(page, `${name}-${key}`);
  }
}

try {
  const first = await open({ colorScheme: 'light' });
  await shoot(first, 'empty');
  simulator.rules.forwardTo(`${receiver.url}/hook`);
  await first.locator('[data-done]').waitFor();
  await shoot(first, 'forwarded');

  for (let placed = 0; placed < 6; placed++) {
    simulator.calls.place({ durationSeconds: 30 + 35 * placed });
    await simulator.clock.advance('90s');
  }
  simulator.chaos.set({ duplicate: 0.6, dropResponse: 0.3 });
  simulator.calls.place();
  await simulator.clock.advance('40s');
  simulator.calls.start({ calledName: 'Noor Haddad', calledNumber: '+15550123' });
  await simulator.clock.advance('4m');
  const waiting = simulator.events.list({ state: 'waiting' });
  const retried = waiting.find(({ attempts }) => attempts.length > 0)?._id ?? '';
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await open({ colorScheme });
    await everyTab(page, colorScheme);
    await page.keyboard.press('c');
    await shoot(page, `${colorScheme}-call`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await shoot(page, `${colorScheme}-help`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await choose(page, retried);
    await shoot(page, `event-${colorScheme}`, colorScheme === 'light');
    await page.context().close();
  }

  const scope = 'workspace';
  const actions = [{ url: `${receiver.url}/old-hook` }];
  simulator.rules.create({ trigger: 'call:started', name: 'Old CRM', scope, actions });
  simulator.calls.place();
  await simulator.clock.advance('5m');
  const failed = simulator.events.list({ state: 'failed' })[0]?._id ?? '';
  for (const colorScheme of ['dark', 'light'] as const) {
    const page = await open({ colorScheme });
    await choose(page, failed);
    await page.locator('.rule[data-state=paused]').scrollIntoViewIfNeeded();
    await shoot(page, `paused-${colorScheme}`, colorScheme === 'dark');
    await page.context().close();
  }
  const medium = await open({ viewport: { width: 1000, height: 760 } });
  await everyTab(medium, 'medium');
  await choose(medium, failed);
  await shoot(medium, 'medium-event');

  for (const colorScheme of ['light', 'dark'] as const) {
    const narrow = await open({
      viewport: { width: 400, height: 760 },
      colorScheme,
      deviceScaleFactor: 2,
    });
    await shoot(narrow, `narrow-${colorScheme}`, colorScheme === 'light');
    await everyTab(narrow, `narrow-${colorScheme}`);
    await narrow.keyboard.press('1');
    await choose(narrow, failed);
    await shoot(narrow, `narrow-${colorScheme}-event`);
  }
} finally {
  await browser.close();
  await simulator.close();
  receiver.server.close();
}
