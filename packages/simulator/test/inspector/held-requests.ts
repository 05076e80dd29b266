import { expect } from '@jest/globals';
import type { Page, Route } from 'playwright-core';

/** Holds back what the page asks for, until it is answered. The newest route of a page counts. */
export async function held(page: Page, path: RegExp) {
  const waiting: Route[] = [];
  let asked = 0;
  await page.route(path, (route) => {
    asked += 1;
    waiting.push(route);
  });
  const take = (at: number) => waiting.splice(at, 1)[0]!;
  return {
    async arrived(count: number) {
      for (let left = 400; waiting.length < count && left > 0; left--)
        await page.waitForTimeout(20);
      expect(waiting.length).toBeGreaterThanOrEqual(count);
    },
    /** How many requests were made so far. */
    asked: () => asked,
    count: () => waiting.length,
    /** Answers one of those that wait, as the world does. */
    letGo: (at = 0) => take(at).fallback(),
    answer: (json: object, at = 0) => take(at).fulfill({ json }),
    refuse: (message: string, status = 409, code = 'conflict', at = 0) =>
      take(at).fulfill({ status, json: { error: { code, message } } }),
    lose: (at = 0) => take(at).abort(),
    end: () => page.unroute(path),
  };
}

/** Waits until the page has drawn what it knows by now. */
export const drawn = (page: Page) =>
  page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))',
  );
