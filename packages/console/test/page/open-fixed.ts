import { expect } from '@jest/globals';
import type { InChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { filesOf, TYPES } from '../../../../scripts/page-bundle.mjs';
import { ANSWERS, NOW } from './fixed-answers.ts';

/** An answer that is not 2xx. Without a code, it does not come from the console. */
export const refusal = (status: number, code?: string, message = 'It did not work.'): Refusal =>
  new Refusal({ status, code, message });

class Refusal {
  readonly told: { status: number; code: string | undefined; message: string };

  constructor(told: Refusal['told']) {
    this.told = told;
  }

  /** For the names of tests. */
  toJSON(): string {
    return `${String(this.told.status)} ${this.told.code ?? 'of another server'}`;
  }
}

/** By path below the console: an answer, a refusal, `'lost'` for none at all, or the `'sign-in page'` of another server. */
export type Answers = Record<string, unknown>;

interface FixedPage {
  readonly page: Page;
  /** What the page asked for, in order: `GET api/tasks`, `POST api/redrive {"all":true}`. */
  readonly asked: string[];
  /** Waits until the page has asked for all of these. */
  asks(...requests: string[]): Promise<void>;
  /** Lets time pass on a page that is still, and a little more: everything that was asked for is shown then. */
  pass(ms: number): Promise<void>;
  /** Of a page that is still: when each path was asked for; milliseconds since the epoch. */
  askedAt(): Promise<Map<string, number[]>>;
  /** Changes what is answered from now on. */
  answer(changes: Answers): void;
  /** The changes that were asked for since the last call. */
  posted(): string[];
  /** The query of the address. */
  address(): string;
}

interface FixedOptions extends BrowserContextOptions {
  /** Whether time passes only when the test says so, with `pass`: no poll comes by itself. */
  isStill?: boolean;
}

/**
 * Counts what the page has asked for and has not got yet: a request that has ended is not yet an answer that was read.
 * Notes when it asked, by its own clock.
 */
const COUNT_UNANSWERED = `
  window.unanswered = 0;
  window.asks = [];
  const ask = window.fetch;
  window.fetch = async (...request) => {
    window.unanswered += 1;
    window.asks.push([String(request[0]), Date.now()]);
    try {
      const response = await ask(...request);
      await response.clone().text();
      return response;
    } finally {
      window.unanswered -= 1;
    }
  };`;

const ORIGIN = 'http://localhost:9';
const MOUNT = `${ORIGIN}/ops/webhooks/`;
let files: Promise<[name: string, text: string][]> | undefined;

/**
 * Opens the page, made from its sources, with answers that never change and a clock that stands at `NOW`, in Oslo.
 * Nothing is served: what it asks for is answered by the test.
 */
export async function openFixed(
  chromium: InChromium,
  query = '',
  changes: Answers = {},
  { isStill = false, ...options }: FixedOptions = {},
): Promise<FixedPage> {
  files ??= filesOf('console');
  const known = new Map(await files);
  const answers: Answers = { ...ANSWERS, ...changes };
  const asked: string[] = [];
  const page = await chromium.page({
    ...{ locale: 'en-GB', timezoneId: 'Europe/Oslo', viewport: { width: 1600, height: 900 } },
    ...options,
  });
  page.setDefaultTimeout(20_000);
  if (isStill) {
    await page.clock.install({ time: NOW - 1_000 });
    await page.clock.pauseAt(NOW);
    await page.addInitScript(COUNT_UNANSWERED);
  } else await page.clock.setFixedTime(NOW);
  await page.route(`${ORIGIN}/**`, async (route) => {
    const request = route.request();
    const url = request.url().slice(MOUNT.length);
    const [path = ''] = url.split('?');
    const name = path === '' ? 'index.html' : path;
    const file = known.get(name);
    if (file !== undefined) {
      const type = TYPES[/\.\w+$/.exec(name)?.[0] ?? ''];
      return route.fulfill({ body: file, ...(type && { contentType: type }) });
    }
    const sent = request.postData();
    asked.push(`${request.method()} ${decodeURIComponent(url)}${sent === null ? '' : ` ${sent}`}`);
    const answer = answers[path];
    if (answer === 'lost') return route.abort();
    if (answer instanceof Refusal) {
      const { status, code, message } = answer.told;
      if (code === undefined) return route.fulfill({ status, body: '<html>' });
      return route.fulfill({ status, json: { error: { code, message } } });
    }
    if (answer === 'sign-in page')
      return route.fulfill({ body: '<html>', contentType: 'text/html' });
    if (answer === undefined) return route.fulfill({ status: 400, body: `no answer for ${path}` });
    return route.fulfill({ json: answer });
  });
  /** Lets time pass, and everything that was asked for arrive and be shown. */
  const pass = async (ms: number) => {
    await page.clock.runFor(ms);
    for (let idle = 0; idle < 3;) {
      await page.clock.runFor(20); // frames
      idle = (await page.evaluate<number>('unanswered')) === 0 ? idle + 1 : 0;
    }
  };
  await page.goto(`${MOUNT}${query}`);
  while (isStill && (await page.locator('.view-head').count()) === 0) await pass(0);
  if (isStill) await pass(0);
  let told = 0;
  return {
    ...{ page, asked, pass },
    async asks(...requests) {
      const isComplete = () => requests.every((one) => asked.includes(one));
      for (let left = 500; left > 0 && !isComplete(); left--) await page.waitForTimeout(20);
      expect(asked).toEqual(expect.arrayContaining(requests));
    },
    async askedAt() {
      const times = new Map<string, number[]>();
      for (const [url, at] of await page.evaluate<[string, number][]>('asks')) {
        const [path = ''] = url.slice(MOUNT.length).split('?');
        times.set(path, [...(times.get(path) ?? []), at]);
      }
      return times;
    },
    answer: (next) => void Object.assign(answers, next),
    posted() {
      const since = asked.slice(told).filter((one) => one.startsWith('POST'));
      told = asked.length;
      return since;
    },
    address: () => decodeURIComponent(new URL(page.url()).search),
  };
}
