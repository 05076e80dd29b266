import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page } from 'playwright-core';
import { ANSWERS, DEAD_LETTERS, LETTERS, NOW } from './fixed-answers.ts';
import { openFixed, refusal, type Answers } from './open-fixed.ts';
import { click, running } from './steps.ts';

const LETTER = '?view=dead-letters&letter=l-1';
/** A page of letters with a long error, and long ids. */
const LONG: Answers = {
  'api/dead-letters': {
    ...DEAD_LETTERS,
    letters: Array.from({ length: 50 }, (_, at) => ({
      ...{ ...LETTERS[0], id: `l-${String(at + 1)}`, error: 'No line today. '.repeat(60) },
      ...{ callId: 'c'.repeat(90), eventName: `call:${'e'.repeat(90)}` },
    })),
  },
  'api/dead-letters/l-1': {
    ...ANSWERS['api/dead-letters/l-1'],
    stack: 'at handler (crm.ts:4:2)\n'.repeat(80),
  },
};

/** Whether a person sees an element where its middle is, and nothing that covers it. */
const isOnTop = (page: Page, selector: string) =>
  page.evaluate<boolean>(`(() => {
    const one = document.querySelector(${JSON.stringify(selector)});
    const { left, top, width, height } = one.getBoundingClientRect();
    return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  })()`);

describeInChromium('what has its place', (chromium) => {
  test('long errors, names and ids are cut in a list, and a long text scrolls in its box', async () => {
    const { page } = await openFixed(chromium, LETTER, LONG);
    await page.locator('.detail summary').click();
    await page.locator('.detail details pre').waitFor();
    expect(
      await page.evaluate(`(() => {
        const row = document.querySelector('.listed tbody tr');
        const lines = (one) => Math.round(one.clientHeight / parseFloat(getComputedStyle(one).lineHeight));
        const [error, id, name] = ['.error-line', '.id', '.event-name'].map((one) => row.querySelector(one));
        const isCut = (one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).textOverflow;
        const box = document.querySelector('.detail details pre');
        return {
          lines: [error, id, name].map(lines),
          cut: [id, name].map(isCut),
          box: [box.clientHeight < 370, box.scrollHeight > box.clientHeight, getComputedStyle(box).overflowY],
        };
      })()`),
    ).toEqual({
      lines: [3, 1, 1],
      cut: ['ellipsis', 'ellipsis'],
      box: [true, true, 'auto'],
    });
  });

  test.each(['?view=dead-letters', '?view=deliveries', '?view=reconcile', ''])(
    'what is empty takes no room, and parts have the same distance: at "%s"',
    async (query) => {
      const { page } = await openFixed(chromium, query);
      await page.locator('.section').first().waitFor();
      const gaps = await page.evaluate<number[]>(`['.view', '.column'].flatMap((selector) => {
        const parts = [...document.querySelectorAll(selector + ' > *')].map((one) => one.getBoundingClientRect())
          .filter(({ height }) => height > 0).sort((one, other) => one.top - other.top);
        return parts.slice(1).map(({ top }, at) => Math.round(top - parts[at].bottom));
      })`);
      expect([...new Set(gaps)]).toEqual([18]);
    },
  );

  test('what can be clicked looks so, what cannot does not, and long words stay within their boxes', async () => {
    const word = 'x'.repeat(400);
    const letter = ANSWERS['api/dead-letters/l-1'] as object;
    const { page } = await openFixed(chromium, LETTER, {
      ...running('removal'),
      'api/dead-letters/l-1': {
        ...{ ...letter, error: word, key: word },
        history: [{ at: NOW, source: 'webhook', attempt: 1, error: word }],
      },
    });
    await page.locator('.detail .facts').waitFor();
    const looks = await page.evaluate(`(() => {
      const styles = (selector) => getComputedStyle(document.querySelector(selector));
      return {
        disabled: styles('.detail .button:disabled').opacity,
        enabled: styles('.detail .button:enabled').opacity,
        row: styles('.listed tbody tr').cursor,
        cause: styles('[aria-label=Causes] tbody tr').cursor,
        wide: [...document.querySelectorAll('.detail *')].filter((one) => one.scrollWidth > one.clientWidth + 1
          && getComputedStyle(one).display !== 'inline').map((one) => one.tagName + '.' + one.className),
      };
    })()`);
    expect(looks).toEqual({
      ...{ disabled: '0.55', enabled: '1', row: 'pointer', cause: 'auto', wide: [] },
    });
  });

  test('a body is coloured by what its parts are, and a text that is no JSON is not', async () => {
    const letter = ANSWERS['api/dead-letters/l-1'] as { body: object };
    const text = '{"a b":"x: 1","n":-1.5,"t":true,"nil":null,"l":["\\"q\\"",2]}';
    const { page } = await openFixed(chromium, LETTER, {
      'api/dead-letters/l-1': {
        ...letter,
        stack: 'at "f" (crm.ts:4:2) true',
        body: { ...letter.body, text },
      },
    });
    await page.locator('.letter-body pre').waitFor();
    const coloured = (box: string) =>
      page.evaluate<string[]>(`[...document.querySelectorAll('${box} pre span')].map((one) =>
        one.className.replace('json-', '') + ' ' + one.textContent)`);
    expect(await coloured('.letter-body')).toEqual([
      ...['key "a b"', 'string "x: 1"', 'key "n"', 'number -1.5', 'key "t"', 'word true'],
      ...['key "nil"', 'word null', 'key "l"', 'string "\\"q\\""', 'number 2'],
    ]);
    expect(await coloured('.detail details')).toEqual([]);
  });

  test('what is for screen readers, and the link that skips, are out of sight', async () => {
    const { page } = await openFixed(chromium, '?view=dead-letters');
    await page.locator('.tab-count').waitFor();
    const sizes =
      await page.evaluate(`[...document.querySelectorAll('.visually-hidden')].map((one) => {
      const { width, height } = one.getBoundingClientRect();
      return [width, height, getComputedStyle(one).clipPath].join(' ');
    })`);
    expect(sizes).toEqual(['1 1 inset(50%)']);
    const skip = page.locator('.skip');
    const isSeen = async () => ((await skip.boundingBox())?.y ?? 0) >= 0;
    expect(await isSeen()).toBe(false);
    await skip.focus();
    expect(await isSeen()).toBe(true);
  });

  test.each([1600, 1000, 390])(
    'what can be done with selected letters, and then a message, stand above all else at %d px',
    async (width) => {
      const { page } = await openFixed(
        ...([chromium, '?view=dead-letters', { ...LONG, 'api/redrive': refusal(500) }] as const),
        { viewport: { width, height: 900 } },
      );
      const box = page.locator('.listed input[type=checkbox]').first();
      await box.check();
      await page.locator('.chosen-bar').waitFor();
      expect(await isOnTop(page, '.chosen-bar .button')).toBe(true);
      await page.locator('#letter-l-1').click();
      await page.locator('.detail .facts').waitFor();
      expect(await isOnTop(page, '.detail-head button')).toBe(true);
      await click('Redrive')(page);
      await page.locator('.notice').waitFor();
      expect(await isOnTop(page, '.notice')).toBe(true);
    },
  );
});
